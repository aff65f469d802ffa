"""Rollouts: random games from a leaf, the policies that play them, and their trained weights."""
