"""Agents by name, matches between them, and what their results say."""
