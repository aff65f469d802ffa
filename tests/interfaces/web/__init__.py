"""Tests of the server of `azero serve`."""
