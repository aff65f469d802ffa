"""How Python becomes machine code: decorators, the cache on disk, bits and random numbers for kernels."""
