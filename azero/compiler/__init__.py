"""Compilation to machine code: decorators, the disk cache, and bits and random numbers for kernels."""
