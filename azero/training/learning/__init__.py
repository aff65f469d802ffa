"""Training steps: trainer, learner, optimiser, precision."""
