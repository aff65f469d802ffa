"""Tests of what `--cluster` says when there is nothing to connect to. They need no Ray, and start none."""

import importlib.util
import socket

import pytest

from azero.cluster import connection
from azero.cluster.connection import connected
from azero.errors import BadInput

ADVICE = "start one with `ray start --head`, or use --cluster local; one with a token needs it here, too"


def refusal(address):
    with pytest.raises(BadInput) as error, connected(address):
        pass
    return str(error.value)


@pytest.fixture
def has_ray(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)


def test_the_extra_is_named_where_ray_is_missing(run_azero, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else find_spec(name))
    line = "--cluster needs Ray; install it with: pip install -c constraints.txt -e '.[ray]'"
    assert refusal("local") == line
    code, out, err = run_azero("train", "smoke", "--run", "run", "--cluster", "local")
    assert (code, out, err) == (2, "", f"azero: {line}\n")


@pytest.mark.parametrize(
    "address", ["", "here", "localhost", "ray://head:10001", "head:", ":6379", "head:65536", "a:b:c"]
)
def test_an_address_that_is_none_is_named(has_ray, address):
    wanted = f"--cluster {address!r} should be local, auto, or the HOST:PORT of a Ray cluster's head"
    assert refusal(address) == wanted


def test_no_cluster_at_the_address_is_said_at_once(has_ray):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        assert refusal(address) == f"there is no Ray cluster at {address} that answers; {ADVICE}"


def test_something_else_at_the_address_is_no_cluster(has_ray, monkeypatch):
    monkeypatch.setattr(connection, "_HEALTH_S", 0.1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        assert refusal(address).startswith(f"there is no Ray cluster at {address} that answers; ")
