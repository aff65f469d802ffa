"""Tests of the games in examples/games: in step with OpenSpiel, and the laws."""
