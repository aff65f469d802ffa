"""The search in plain Python, for people to read. Tests check that the kernels give the same results."""
