"""Exact values: alpha-beta with a table, to the end of the game or to a horizon."""
