"""Tests of nets: the tower, its files, and its answers."""
