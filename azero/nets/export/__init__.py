"""Nets in files for other programs."""
