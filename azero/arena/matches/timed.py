"""Matches in which each side has a clock. Games are played one after another, since the clocks measure real time."""

import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.analysis import Ponderer
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.game_player import Thought
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.kept import kept_games
from azero.arena.matches.openings import OPENING_PLIES, check_numbers, draw_openings
from azero.arena.matches.results import (
    Cost,
    GameClocks,
    GameResult,
    MatchResult,
    TimeUse,
    early_end_of,
    finish,
    spent_by,
    tally_of,
)
from azero.arena.matches.statistics import Tally
from azero.errors import EngineFailed
from azero.games import Game, State
from azero.records.record import OUT_OF_TIME, RESIGNED


def play_timed_match(
    a: Agent,
    b: Agent,
    game: Game,
    num_games: int,
    control: TimeControl,
    seed: int = 0,
    opening_plies: int = OPENING_PLIES,
    is_pondering: bool = False,
    on_games: Callable[[int, Tally], None] = lambda finished, tally: None,
    out: str | Path | None = None,
    openings: Sequence[str] = (),
) -> MatchResult:
    """Plays `num_games` games in pairs; the arguments and errors are those of `play_match`.

    Args:
      control: the time of each side for a game. Who has no time left loses.
      is_pondering: whether both sides think on the opponent's time.
    """
    check_numbers(num_games, opening_plies)
    kept = kept_games(out, a, b, game, seed, opening_plies, openings, clock=str(control), ponder=is_pondering)
    results = {number: each for number, each in kept.results.items() if number < num_games}
    drawn = list(islice(draw_openings(game, opening_plies, seed, openings), (num_games + 1) // 2))
    before = [spent_by(agent) for agent in (a, b)]
    early_end = None
    for agent in (a, b):
        agent.player.start_clock()
    begin = time.perf_counter()

    def cost() -> Cost:
        spent = [spent_by(agent) - earlier for agent, earlier in zip((a, b), before, strict=True)]
        return Cost(time.perf_counter() - begin, np.stack(spent))

    try:
        if results:
            on_games(len(results), tally_of(list(results.values())))
        for number in sorted({*range(num_games)} - results.keys()):
            results[number] = _play_game(a, b, drawn[number // 2], number, control, is_pondering)
            kept.add([results[number]], cost())
            on_games(1, tally_of(list(results.values())))
    except (EngineFailed, KeyboardInterrupt) as error:
        early_end = early_end_of(error, f"after {len(results)} of {num_games} games")
    games = [results[number] for number in sorted(results)]
    use = TimeUse.of_games(control, games)
    return finish((a.name, b.name), str(game), games, kept.cost, None, early_end, use)


def _play_game(a: Agent, b: Agent, opening: State, number: int, control: TimeControl, is_pondering: bool) -> GameResult:
    """Plays one game; A plays first in even games."""
    state, clocks = opening.clone(), [Clock(control), Clock(control)]  # by agent, A first
    least_left_s = [clock.left_s for clock in clocks]
    thoughts: list[Thought | None] = []
    termination = ""
    for agent in (a, b):
        agent.player.start_clock()
    ponderers: list[Ponderer | None] = [None, None]
    score = None
    try:
        while score is None and not state.is_terminal():
            mover = state.current_player() ^ (number % 2)  # 0: A
            agent, clock = (a, b)[mover], clocks[mover]
            begin = time.perf_counter()
            if ponderer := ponderers[mover]:
                ponderer.stop()
            suggestion = agent.player.play(state, clock)
            seconds = time.perf_counter() - begin
            if suggestion.action == RESIGN:
                clock.spend(seconds)
                score, termination = float(mover), RESIGNED
                break
            thought = Thought(suggestion.value, suggestion.simulations, seconds)
            if not agent.judges_positions:
                thought = Thought(None, None, seconds)
            thoughts += [thought, *[None] * len(suggestion.actions[1:])]
            for action in suggestion.actions:
                state.apply_action(action)
            is_opponents = not state.is_terminal() and state.current_player() ^ (number % 2) != mover
            clock.spend(seconds, is_turn_over=is_opponents or state.is_terminal())
            least_left_s[mover] = min(least_left_s[mover], clock.left_s)
            if clock.has_fallen:
                score, termination = float(mover), OUT_OF_TIME
                break
            ponderers[mover] = Ponderer(agent, state) if is_pondering and is_opponents else None
    finally:
        for each in filter(None, ponderers):
            each.stop()
    if score is None:
        score = (state.returns()[number % 2] + 1.0) / 2.0
    history, plies = tuple(state.history()), len(opening.history())
    shown = GameClocks((clocks[0].used_s, clocks[1].used_s), (least_left_s[0], least_left_s[1]))
    return GameResult(number // 2, number % 2 == 0, history, score, plies, termination, tuple(thoughts), shown)
