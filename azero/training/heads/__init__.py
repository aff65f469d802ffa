"""Auxiliary heads: what the tower learns in addition to policy and value. Each head has its own file.

Heads exist in training only, unless the setting `net.heads` keeps them in the net and its checkpoint. CONTRIBUTING.md
says how to add one.
"""
