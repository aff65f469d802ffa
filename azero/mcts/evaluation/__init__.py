"""The evaluation of leaves: the evaluator's protocol, views and batches for it, and a cache of its answers."""
