"""Tests of the interfaces: text output, and games in the terminal."""
