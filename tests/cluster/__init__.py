"""Tests of work on several machines: the same results, whoever dies."""
