"""Tests of an agent in use: what is drawn, and games in the terminal."""
