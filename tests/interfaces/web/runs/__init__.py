"""Tests of runs as the page shows them."""
