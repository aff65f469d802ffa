"""Ways to use a trained agent; a terminal is the first."""
