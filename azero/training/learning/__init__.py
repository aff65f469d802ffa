"""One step of learning: trainer, optimiser, auxiliary heads, precision."""
