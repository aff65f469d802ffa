"""Getting better: the loop of self-play, training and gate, and the run's folder that it goes on from."""
