"""Tests of a worker's side: what it answers. Errors arrive once, with their own message and their type's name."""

import dataclasses
import errno
import os
import pickle
import re
import sys
import threading

import pytest
from cluster.works import square

from azero.errors import BadInput, Damaged
from azero.system.local_backend import local_host
from azero.system.worker_pool import local_workers
from azero.system.worker_side import Call, CarriedError, check, do_task

from .fake import damaged


class Plain(Exception):
    pass


class Of2(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


class Prefixed(Exception):
    def __init__(self, text):
        super().__init__(f"found: {text}")


class Counted(BadInput):
    def __init__(self, most):
        super().__init__(f"more than {most:,}")


class Locked(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


class Mute(Exception):
    def __str__(self):
        raise ValueError("no")


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    text: str

    def __str__(self):
        return self.text


def _local_error():
    class Local(Exception):
        pass

    return Local("of a function")


ERRORS = {
    "plain": (lambda: KeyError("key"), KeyError, "'key'"),
    "two arguments": (lambda: Of2("of two", "parts"), RuntimeError, "Of2: of two parts"),
    "another message": (lambda: Prefixed("it"), RuntimeError, "Prefixed: found: it"),
    "bad input": (lambda: Counted(1000), BadInput, "more than 1,000"),
    "a lock": (lambda: Locked("has a lock"), RuntimeError, "Locked: has a lock"),
    "local": (_local_error, RuntimeError, "Local: of a function"),
    "frozen": (lambda: Frozen("cold"), RuntimeError, "Frozen: cold"),
    "no message": (lambda: Mute(), RuntimeError, "Mute"),
    "end of input": (lambda: EOFError("no more"), EOFError, "no more"),
    "sys.exit": (lambda: SystemExit("over"), RuntimeError, "SystemExit: over"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_carried(name):
    make, kind, message = ERRORS[name]
    try:
        raise make()
    except BaseException as error:
        carried = CarriedError.of(error, "In a test")
    found = pickle.loads(pickle.dumps(carried)).error()
    assert type(found) is kind and str(found) == message
    assert found.__notes__[0].startswith("In a test:\nTraceback")


def test_a_type_that_does_not_exist_here_is_named(monkeypatch):
    try:
        raise Plain("text")
    except Plain as error:
        carried = CarriedError.of(error, "In a test")
    assert type(carried.error()) is Plain
    monkeypatch.delattr(sys.modules[__name__], "Plain")
    assert repr(carried.error()) == "RuntimeError('Plain: text')"


def fail(shared, task, report):
    if task == "result":
        return threading.Lock()
    raise ERRORS[task][0]()


def test_no_worker_is_killed_for_an_error():
    with local_workers(1) as workers:
        for name in ("two arguments", "a lock", "end of input", "sys.exit"):
            _, kind, message = ERRORS[name]
            with pytest.raises(kind, match=f"^{re.escape(message)}\nIn a worker"):
                list(workers.run(fail, [name]))
        with pytest.raises(TypeError, match="cannot pickle '_thread.lock' object"):
            list(workers.run(fail, ["result"]))
        assert workers.num_deaths == 0


def refuse(place):
    raise Of2("not", "today")


def test_an_error_of_the_preparation_comes_out_once():
    told = []
    with (
        local_workers(1, refuse, told.append) as workers,
        pytest.raises(RuntimeError, match="^Of2: not today\nIn another process"),
    ):
        list(workers.run(fail, ["plain"]))
    assert not told


class Failing:
    def fail(self, name):
        return fail(None, name, None)


def test_an_error_of_a_peer_comes_out():
    with local_host(2) as host:
        for name, kind in (("two arguments", RuntimeError), ("a lock", RuntimeError), ("result", TypeError)):
            peer = host.start(Failing, 1)
            peer.result(60)
            peer.call("fail", name)
            with pytest.raises(kind):
                peer.result(60)


# --- tasks ---


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


def test_an_error_travels_with_its_trace():
    answer = do_task("three", packed_call("three"), 0, pickle.dumps("wrong"), "node")
    error = answer.value.error()
    assert answer.kind == "error" and type(error) is ValueError
    assert "In a worker process on " in error.__notes__[0] and "Traceback" in error.__notes__[0]


def test_a_call_that_cannot_be_read_is_an_error_too():
    answer = do_task("six", b"no pickle", 0, pickle.dumps(1), "node")
    assert answer.kind == "error" and answer.call == "six" and isinstance(answer.value.error(), pickle.UnpicklingError)
