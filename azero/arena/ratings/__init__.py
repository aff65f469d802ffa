"""Ratings of many agents in one pool: the estimate, the choice of pairings, the games and their file."""
