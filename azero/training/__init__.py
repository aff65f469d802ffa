"""Training: the loop of self-play, training and gate, and the run's folder with its saved state."""
