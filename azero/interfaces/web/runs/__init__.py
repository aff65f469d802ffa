"""Runs as the page shows them: what is read of a run's folder while it may be training."""
