"""The check of a run's folder, and its repair."""
