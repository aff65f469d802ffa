"""Judging a position: the residual policy/value net, its checkpoints, and the evaluator that searches ask."""
