"""Whether planes tell positions apart: pairs of positions with equal planes are played on until they differ.

It is no law. In some games the future depends on more than planes can show, as in Go with superko.
"""

import random
import time
from collections.abc import Iterator
from statistics import fmean

import numpy as np

from azero.games.contract import sign_of
from azero.games.laws.findings import record_of, state_after
from azero.games.laws.keys import Enumeration
from azero.games.reasons import listed, short
from azero.games.state import Game, State

_MOST_PAIRS, _SECONDS = 200, 4.0  # of computing


def find_lookalikes(known: Enumeration, chooser: random.Random) -> str:
    """Returns two lines to positions with equal planes, and how they differ; empty if none were found.

    A difference that shows in play comes first. Otherwise the keys of two positions in which the same player is to move
    may differ. Play may show that difference later, e.g. where a draw comes after some number of plies. The keys of
    OpenSpiel's games are those of histories, which always differ.
    """
    by_keys = ""
    for one, other, states in _pairs(known, chooser):
        if found := _difference_in_play(*states, chooser):
            return _told(known.game, one, other, found)
        is_same_player = states[0].current_player() == states[1].current_player()
        if is_same_player and not by_keys and not known.game.rules.calls_python:
            by_keys = _told(known.game, one, other, _difference_of_keys(*states))
    return by_keys


def share_that_differs(known: Enumeration, chooser: random.Random) -> float:
    """Returns about which share of the positions has the planes of another one and plays differently."""
    differs = [bool(_difference_in_play(*states, chooser)) for *_, states in _pairs(known, chooser)]
    return fmean(differs) * len(known.lookalikes) / known.num_expanded if differs else 0.0


def _pairs(known: Enumeration, chooser: random.Random) -> Iterator[tuple[list[int], list[int], tuple[State, State]]]:
    """Yields some pairs of positions with equal planes, while there is time: the lines to them, and the positions."""
    game, begin = known.game, time.process_time()
    pairs = chooser.sample(known.lookalikes, min(_MOST_PAIRS, len(known.lookalikes)))
    for one, other in sorted(
        ([known.line_to(node) for node in pair] for pair in pairs), key=lambda pair: sum(map(len, pair))
    ):
        states = state_after(game, one), state_after(game, other)
        if np.array_equal(states[0].planes(), states[1].planes()):  # not the digests alone
            yield one, other, states
        if time.process_time() - begin > _SECONDS:  # the first pair compiles
            break


def _told(game: Game, one: list[int], other: list[int], found: str) -> str:
    lines = " and ".join(f"after {listed(record_of(game, each).split()) or 'no move'}" for each in (one, other))
    return f"the planes are the same {lines}, but {found}" if found else ""


def _difference_in_play(one: State, other: State, chooser: random.Random) -> str:
    """Plays the same random moves from two positions. Returns what differs for the player to move, or nothing."""
    game, one, other = one.game, one.clone(), other.clone()
    first, second = one.current_player(), other.current_player()
    texts: list[str] = []
    while True:
        later = f" after {' '.join(texts)}" if texts else ""
        if one.is_terminal() or other.is_terminal():
            results = _result_for(first, one), _result_for(second, other)
            return f"the mover's result{later} is {results[0]} and {results[1]}" if results[0] != results[1] else ""
        if (one.current_player() == first) != (other.current_player() == second):
            return f"another player is to move{later}"
        for action in sorted({*one.legal_actions()} ^ {*other.legal_actions()}):
            where, only = ("first", one) if action in one.legal_actions() else ("second", other)
            return f"{game.action_to_text(only, action)} is legal{later} in the {where} position only"
        action = chooser.choice(one.legal_actions())
        texts.append(game.action_to_text(one, action))
        one.apply_action(action)
        other.apply_action(action)


def _result_for(player: int, state: State) -> str:
    return f"{int(sign_of(player) * state.returns()[0]):+d}" if state.is_terminal() else "open"


def _difference_of_keys(one: State, other: State) -> str:
    """Returns the fields of the state that differ, if the keys do; otherwise nothing."""
    if one.hash_key() == other.hash_key():
        return ""
    fields = [(name, one.record[name], other.record[name]) for name in one.record.dtype.names or ()]
    differing = [
        f"state.{name}" + (f" is {short(value)} and {short(theirs)}" if np.ndim(value) == 0 else " differs")
        for name, value, theirs in fields
        if not np.array_equal(value, theirs)
    ]
    return f"hash_key differs, and {' and '.join(differing)}"
