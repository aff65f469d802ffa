"""Cases of tests that only `make test-all` runs."""

import pytest


def thorough(*cases):
    """Returns parameters marked as `thorough`. Tuples are values of several arguments."""
    return [pytest.param(*(each if type(each) is tuple else (each,)), marks=pytest.mark.thorough) for each in cases]
