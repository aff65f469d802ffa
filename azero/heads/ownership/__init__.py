"""Ownership: who owns each cell at the end of the game.

Source:
  Wu, Accelerating self-play learning in Go, 2019, section 4.1.
"""
