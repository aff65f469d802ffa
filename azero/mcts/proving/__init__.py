"""Proven results: proofs backed up the tree, look-ahead at new nodes, and the solver at the root."""
