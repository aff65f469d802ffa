"""Auxiliary heads: what the tower learns in addition to policy and value. Each head has its own file.

Heads exist in training only; checkpoints do not contain them. CONTRIBUTING.md says how to add one.
"""
