"""The evaluation of leaves: the evaluator's protocol, views for it, and a cache of its answers."""
