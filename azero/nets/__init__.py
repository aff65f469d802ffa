"""The residual policy/value net, its checkpoints, and the evaluator that searches use."""
