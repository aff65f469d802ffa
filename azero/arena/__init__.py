"""Agents by name, matches between them and what their results say, and solved positions."""
