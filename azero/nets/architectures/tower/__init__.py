"""The residual tower."""
