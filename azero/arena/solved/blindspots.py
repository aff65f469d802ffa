"""`azero blindspots`: positions of an agent's own games in which its net and the truth part.

The truth is a solver's where it reaches, and a search many times as deep elsewhere. A net has a blind spot where its
most likely result is wrong, or where its first choice gives away the result.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import UNLIMITED
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.openings import OPENING_PLIES, draw_openings
from azero.arena.solved.judges import Judge, judge_for, result_of
from azero.arena.solved.mistakes import answers_of_net
from azero.errors import BadInput
from azero.games import DRAW, LOSS, WIN, State

DEEPER = 16
"""A search that stands for the truth has the agent's simulations times this."""

_CERTAIN = 0.9
"""The least value of a deep search that counts as a win; minus this is the largest that counts as a loss."""

_SLOWER_IN_PYTHON = 100  # times, if rules call Python
_AT_ONCE = 64  # games
_PHASES = "early", "in the middle", "late"
_EXAMPLES = 3  # of a group that are printed


class Spot(NamedTuple):
    """A position that the net misjudges. Results are for the player to move.

    Attributes:
      expected: the net's most likely result.
      move: the net's first choice.
      gives_away: whether that move has a worse result than the best one; None: not known.
      is_solved: whether a solver knows the result; else a deep search believes it.
      phase: the third of its game: 0, 1 or 2.
    """

    state: State
    result: int
    expected: int
    move: str
    gives_away: bool | None
    is_solved: bool
    phase: int

    @property
    def group(self) -> str:
        """What it shares with others."""
        truth = {WIN: "wins", DRAW: "draws", LOSS: "loses"}[self.result]
        believed = {WIN: "a win", DRAW: "a draw", LOSS: "a loss"}[self.expected]
        if self.expected != self.result:
            return f"{_PHASES[self.phase]}, it expects {believed}, and {truth}"
        return f"{_PHASES[self.phase]}, it {truth}, and its first choice gives that away"


class Blindspots(NamedTuple):
    """What was found in an agent's games."""

    agent: str
    game: str
    games: int
    positions: int
    solved: int
    searched: int  # whose result a deep search believes
    spots: list[Spot]

    def groups(self) -> list[tuple[str, list[Spot]]]:
        """Returns the spots by what they share, the largest group first."""
        counts = Counter(each.group for each in self.spots)
        return [(group, [each for each in self.spots if each.group == group]) for group, _ in counts.most_common()]

    def to_json(self) -> dict:
        """Returns the object that `azero blindspots --json` prints."""
        groups = [{"what": what, "spots": [each.state.to_text() for each in own]} for what, own in self.groups()]
        return {**self._asdict(), "spots": len(self.spots), "groups": groups}


def find_blindspots(
    agent: Agent, num_games: int, seed: int, on_positions: Callable[[int, int], None] = lambda num, of: None
) -> Blindspots:
    """Plays games of an agent against itself, and returns the positions that its net misjudges.

    Args:
      on_positions: called with the number of positions that have been judged, and that of all.

    Raises BadInput if the agent has no net, has a level or a limit in seconds, or plays fewer than one game.
    """
    if agent.net_alone is None:
        raise BadInput(f"{agent.name} has no net; name a checkpoint or a run")
    if agent.limit.seconds is not None or agent.at_full_strength is not agent:
        raise BadInput(f"{agent.name} should be limited by simulations alone, e.g. @400")
    if num_games < 1:
        raise BadInput(f"--games {num_games} should be 1 or more")
    judge = judge_for(agent.game)
    node_limit = judge.review_limit // (_SLOWER_IN_PYTHON if agent.game.rules.calls_python else 1)
    positions = _positions_of(_games_of(agent, num_games, seed))
    answers = answers_of_net(agent, [state for state, _ in positions])
    spots, num_solved, num_searched = list[Spot](), 0, 0
    for number, ((state, phase), answer) in enumerate(zip(positions, answers, strict=True), start=1):
        result = judge.result(state, node_limit)
        is_solved = result is not None
        if result is None:
            result = _believed(agent, state)
        num_solved, num_searched = num_solved + is_solved, num_searched + (result is not None and not is_solved)
        if result is not None:
            gives_away = _gives_away(judge, state, answer.action, result) if is_solved else None
            if answer.result != result or gives_away:
                move = state.game.action_to_text(state, answer.action)
                spots.append(Spot(state, result, answer.result, move, gives_away, is_solved, phase))
        on_positions(number, len(positions))
    return Blindspots(agent.name, str(agent.game), num_games, len(positions), num_solved, num_searched, spots)


def _games_of(agent: Agent, num_games: int, seed: int) -> list[list[State]]:
    """Returns the positions of games of an agent against itself, one from each random opening."""
    openings = [state.clone() for state in islice(draw_openings(agent.game, OPENING_PLIES, seed), num_games)]
    at_once, games = min(agent.player.most_slots, _AT_ONCE), list[list[State]]()
    for first in range(0, num_games, at_once):
        states = openings[first : first + at_once]
        lines: list[list[State]] = [[] for _ in states]
        agent.player.start(len(states), states, first)
        slots = [*range(len(states))]
        while slots:
            for slot, action in zip(slots, agent.player.choose(slots), strict=True):
                lines[slot].append(states[slot].clone())
                if action == RESIGN:
                    slots = [each for each in slots if each != slot]
                    continue
                states[slot].apply_action(action)
                agent.player.advance(slot, action)
            slots = [slot for slot in slots if not states[slot].is_terminal()]
        games += lines
    return games


def _positions_of(games: Sequence[Sequence[State]]) -> list[tuple[State, int]]:
    """Returns the different positions of games, each with the third of its game."""
    found: dict[int | bytes, tuple[State, int]] = {}
    for line in games:
        for ply, state in enumerate(line):
            found.setdefault(state.position_key(), (state, len(_PHASES) * ply // len(line)))
    return list(found.values())


def _believed(agent: Agent, state: State) -> int | None:
    """Returns the result that a deep search believes; None if it is not certain."""
    value = agent.suggest(state, min(UNLIMITED, DEEPER * agent.limit.simulations)).value
    return result_of(value) if abs(value) >= _CERTAIN else None


def _gives_away(judge: Judge, state: State, action: int, result: int) -> bool | None:
    keeps = result == LOSS or judge.keeps(state, action, result)
    return None if keeps is None else not keeps


def benchmark_of(found: Blindspots) -> str:
    """Returns the solved spots as a benchmark; empty if there are none, or the game's moves cannot be written there."""
    lines = []
    for each in found.spots:
        game, line = each.state.game, each.state.history()
        moves = ",".join(game.lines_to_text(game.new_initial_state(), [line])[0]) if line else "-"
        if each.is_solved and (not line or _can_be_read(each.state, moves)):
            lines.append(f"{moves} {each.result}  # {each.group}\n")
    return "".join([f"# game: {found.game}\n", *lines]) if lines else ""


def _can_be_read(state: State, moves: str) -> bool:
    try:
        return state.game.state_from_moves(moves) == state
    except BadInput:
        return False


def starts_of(found: Blindspots) -> str:
    """Returns all spots as starts of self-play."""
    return "".join(f"{each.state.to_text()}\n" for each in found.spots)


def describe(found: Blindspots) -> list[str]:
    """Returns the lines that `azero blindspots` prints."""
    known = found.solved + found.searched
    lines = [
        f"{found.agent}: {found.games} games of {found.game}, {found.positions:,} positions; {found.solved:,} solved, "
        f"{found.searched:,} by a deep search; the net misjudges {len(found.spots):,} of {known:,}"
    ]
    for what, own in found.groups():
        shown = "; ".join(each.state.to_text() for each in own[:_EXAMPLES])
        lines.append(f"{len(own):>6}  {what}: {shown}")
    return lines
