"""What judges a leaf: the evaluator's protocol, the views and batches that it is given, and its cache."""
