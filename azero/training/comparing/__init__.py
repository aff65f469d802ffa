"""Comparison of runs: their curves, with the seeds of the same settings together."""
