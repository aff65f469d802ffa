"""Interfaces to use an agent. There is one, the terminal."""
