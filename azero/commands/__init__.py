"""The commands: each parses, calls and prints. Results go to stdout, progress to stderr."""
