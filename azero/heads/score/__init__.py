"""Score: the margin by which the mover wins.

Source:
  Wu, Accelerating self-play learning in Go, 2019, section 4.1. There the target is a distribution, here a number.
"""
