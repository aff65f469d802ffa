"""The runtimes of a net on this machine, and the choice between them."""
