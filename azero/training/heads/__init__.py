"""Auxiliary heads: what the tower learns in addition to policy and value. Each head has its own file.

Heads exist in training only; checkpoints do not contain them. To add a head, write its file, list it in `registry.py`,
add the setting `training.NAME_loss_weight`, and describe its loss in docs/metrics.md.
"""
