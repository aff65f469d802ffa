"""Cases of tests that only `make test-all` or only `make test-long` runs."""

import pytest


def thorough(*cases):
    """Returns parameters marked as `thorough`. Tuples are values of several arguments."""
    return _marked(cases, pytest.mark.thorough)


def long(*cases):
    """Returns parameters marked as `long`, as `thorough` does."""
    return _marked(cases, pytest.mark.long)


def _marked(cases, mark):
    return [pytest.param(*(each if type(each) is tuple else (each,)), marks=mark) for each in cases]
