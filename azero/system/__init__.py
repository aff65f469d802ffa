"""Files, processes, threads, Ctrl-C, and the machine's cores and memory."""
