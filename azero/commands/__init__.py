"""The commands. Each parses its options, calls the library and prints. Results go to stdout, progress to stderr."""
