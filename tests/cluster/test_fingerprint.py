"""Tests of fingerprints: which machines work for each other, and how a line says that they differ."""

import pytest

from azero.cluster.fingerprint import Fingerprint, Terms, check_machine, difference

HERE = Fingerprint("0.1", "c0de", "3.11", ("numpy 2.1", "torch 2.6"), "skylake", frozenset(["avx", "avx2"]))


@pytest.mark.parametrize(
    ("changes", "line", "is_in_mixed"),
    [
        ({}, "", False),
        ({"azero": "0.2"}, "azero 0.2, not 0.1", True),
        ({"code": "0ther"}, "another code of azero 0.1", True),
        ({"python": "3.12"}, "Python 3.12, not 3.11", True),
        ({"libraries": ("numpy 2.1", "torch none")}, "torch none, not 2.6", False),
        ({"features": frozenset(["avx"])}, "a CPU without avx2", False),
        ({"features": HERE.features | {"x1", "x2", "x3", "x4", "x5"}}, "a CPU that also has x1, x2, x3, x4 and 1 more",
         False),
        ({"cpu": "znver3"}, "a CPU znver3, not skylake", False),
    ],
)  # fmt: skip
def test_a_line_says_how_machines_differ(changes, line, is_in_mixed):
    assert difference(HERE, HERE._replace(**changes), is_mixed=False) == line
    assert difference(HERE, HERE._replace(**changes), is_mixed=True) == (line if is_in_mixed else "")


def test_a_machine_works_for_its_like_only():
    own = Fingerprint.here()
    assert check_machine(tuple(Terms(tuple(own), False)), "node") is None
    refused = check_machine(tuple(Terms(tuple(own._replace(code="")), False)), "node")
    assert refused is not None and refused.node == "node" and refused.how.startswith("has another code of azero ")
    older = check_machine((("0.1", "one field less"), False), "node")
    assert older is not None and older.how == "has another version of azero"
