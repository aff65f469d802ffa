"""Tests of the limit on open connections."""

from azero.interfaces.web.connection import Connections
from azero.interfaces.web.settings import ServeSettings


class Socket:
    """Stands for a connection, and notes whether it was closed."""

    def __init__(self):
        self.is_closed = False

    def abort(self):
        self.is_closed = True


def test_each_connection_too_many_closes_another_one_before_any_is_gone():
    connections = Connections(ServeSettings(most_sockets=3))
    sockets = [Socket() for _ in range(8)]
    for each in sockets:
        connections.opened(each)  # in one turn of the loop: nobody is told of a loss
    assert [each.is_closed for each in sockets] == [True] * 5 + [False] * 3


def test_a_connection_that_is_answered_stays():
    connections = Connections(ServeSettings(most_sockets=1))
    first, second = Socket(), Socket()
    connections.opened(first)
    connections.works(first, is_idle=False)
    connections.opened(second)
    assert (first.is_closed, second.is_closed) == (False, True)
