"""The settings of a server: where it listens, whom it answers, and the limits on what requests may cost."""

import re
from dataclasses import dataclass

from azero.arena.agents.analysis import MOST_MIB
from azero.errors import BadInput

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine that only its own programs can use."""


_NAME = re.compile(r"[^\s:/*@]+|\[[0-9a-f:.]+\]", re.IGNORECASE)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/*@?#]+/?", re.IGNORECASE)


@dataclass(frozen=True)
class ServeSettings:
    """The settings of a server.

    Raises BadInput if there are no threads, the trees could not be so large, or no request could ever have one of
    `allow_hosts` or `allow_origins`.

    Attributes:
      host: the address to listen on.
      port: the port; 0: a free one.
      allow_hosts: further names by which requests may address the server.
      allow_origins: further origins whose pages may send requests, e.g. `http://localhost:5173`.
      threads: of each search.
      memory_mib: of the trees of each loaded agent, in MiB. They take it as they grow.
      most_agents: agents that are loaded at the same time.
      most_searches: analyses, suggestions, reviews and lessons at the same time; further ones are refused.
      most_simulations: of one analysis.
      most_suggested: simulations of one suggestion, or of each position of a review.
      analysis_s: the most seconds of an analysis.
      suggestion_s: the most seconds of a suggestion.
      most_body_bytes: of a request.
      most_plies: moves of a game in a request.
      most_record_moves: moves of all records in a request, variations included. One line of a record is as long as the
        game allows.
      slow_reader_s: seconds that a reader may take until its search ends.
    """

    host: str = "127.0.0.1"
    port: int = 8777
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    threads: int = 1
    memory_mib: int = 1024
    most_agents: int = 4
    most_searches: int = 128
    most_simulations: int = 10_000_000
    most_suggested: int = 20_000
    analysis_s: float = 3600.0
    suggestion_s: float = 10.0
    most_body_bytes: int = 1 << 20
    most_plies: int = 2000
    most_record_moves: int = 10_000
    slow_reader_s: float = 20.0

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise BadInput(f"--threads {self.threads} should be 1 or more")
        if self.memory_mib > MOST_MIB:
            raise BadInput(f"--memory {self.memory_mib} should be {MOST_MIB} or less")
        for name in self.allow_hosts:
            if not _NAME.fullmatch(name):
                raise BadInput(f"--allow-host {name!r} should be a name without a port, e.g. azero.example")
        for origin in self.allow_origins:
            if not _ORIGIN.fullmatch(origin):
                raise BadInput(f"--allow-origin {origin!r} should be one origin, e.g. http://localhost:5173")

    @property
    def own_name(self) -> str:
        """The host as an address of HTTP has it."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine can reach the server."""
        return self.own_name in LOOPBACK
