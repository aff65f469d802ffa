"""Tests of azero.heads."""
