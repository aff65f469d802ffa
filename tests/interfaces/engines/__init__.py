"""Tests of azero as an engine of other programs."""
