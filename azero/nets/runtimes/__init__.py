"""The ways to run a net on this machine, and which of them is taken."""
