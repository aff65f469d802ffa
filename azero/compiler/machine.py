"""Which machine kernels are compiled for: this one, or WebAssembly."""

import os

VARIABLE, WASM = "AZERO_COMPILES_FOR", "wasm32"

IS_WASM = os.environ.get(VARIABLE) == WASM
"""Whether this process compiles for WebAssembly. Then it can call no kernel."""

LANES = 8 if IS_WASM else 16
"""Floats of a vector of `vectors.py`: two registers, of which CPUs have 16 or so."""
