"""Matches between agents, their openings, and what their results say."""
