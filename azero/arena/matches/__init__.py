"""Matches between agents, their openings and their statistics."""
