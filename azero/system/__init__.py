"""Files, processes, threads, Ctrl-C, and what the machine has."""
