"""Tests of nets: the tower, checkpoints, and evaluation by every runtime."""
