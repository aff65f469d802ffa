"""Tests of `azero.records`."""
