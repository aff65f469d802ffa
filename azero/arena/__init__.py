"""Agents by name, matches between them with their statistics, and solved positions."""
