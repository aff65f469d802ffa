"""Publish: an agent as one file that anyone opens."""
