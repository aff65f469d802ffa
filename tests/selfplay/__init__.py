"""Tests of self-play: games played, kept in files, and drawn from for training."""
