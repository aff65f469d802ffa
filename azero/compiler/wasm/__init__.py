"""The other machine that kernels can be compiled for: WebAssembly, 32 bits, with vectors of 128 bits."""
