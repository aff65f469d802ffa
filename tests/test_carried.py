"""Tests of errors from other processes: each arrives once, with its own message and its type's name."""

import dataclasses
import pickle
import re
import sys
import threading

import pytest

from azero.errors import BadInput
from azero.system.local import local_host
from azero.system.pool import local_workers
from azero.system.worker import CarriedError


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
