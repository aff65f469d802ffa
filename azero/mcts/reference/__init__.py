"""The search in plain Python, for people to read; tests hold the kernels to it."""
