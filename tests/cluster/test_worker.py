"""Tests of a worker's side: what it refuses, and what it answers."""

import errno
import os
import pickle

import pytest

from azero.cluster.fingerprint import Fingerprint, Terms, check_machine, difference
from azero.errors import Damaged
from azero.system.worker import Call, check, do_task

from .fake import damaged
from .works import square

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


def packed_call(name):
    return pickle.dumps(Call(name, square, "shared"))


def test_an_answer_is_whole_and_to_its_task():
    answer = do_task("one", packed_call("one"), 5, pickle.dumps(3), "node")
    assert (answer.kind, answer.value, answer.progress, answer.node) == ("result", 9, 3, "node")
    check(answer, "one", 5)
    for call, place in (("two", 5), ("one", 4)):
        with pytest.raises(Damaged, match="is that to another task"):
            check(answer, call, place)
    with pytest.raises(Damaged, match="is damaged"):
        check(damaged(answer), "one", 5)


def raise_os_error(shared, task, report):
    raise OSError(task, os.strerror(task))


def test_what_this_machine_lacks_is_left_to_another_worker():
    packed = pickle.dumps(Call("five", raise_os_error, None))
    with pytest.raises(OSError, match="No space left"):
        do_task("five", packed, 0, pickle.dumps(errno.ENOSPC), "node")
    assert do_task("five", packed, 0, pickle.dumps(errno.ENOENT), "node").kind == "error"


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def raise_unpicklable(shared, task, report):
    raise Unpicklable("of two", "parts")


def test_an_error_travels_with_its_trace_or_at_least_its_text():
    answer = do_task("three", packed_call("three"), 0, pickle.dumps("wrong"), "node")
    error = answer.value.error()
    assert answer.kind == "error" and type(error) is ValueError
    assert "In a worker process on " in error.__notes__[0] and "Traceback" in error.__notes__[0]
    packed = pickle.dumps(Call("four", raise_unpicklable, None))
    error = do_task("four", packed, 0, pickle.dumps(1), "node").value.error()
    assert repr(error) == "RuntimeError('Unpicklable: of two parts')"


def test_a_call_that_cannot_be_read_is_an_error_too():
    answer = do_task("six", b"no pickle", 0, pickle.dumps(1), "node")
    assert answer.kind == "error" and answer.call == "six" and isinstance(answer.value.error(), pickle.UnpicklingError)
