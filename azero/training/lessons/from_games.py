"""Makes lessons of records: what was played and how it ended, or what an agent thinks of each position."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import VALUES
from azero.errors import BadInput
from azero.games import State
from azero.games.contract import DRAW, LOSS, WIN, sign_of
from azero.records import Record
from azero.records.record import DRAWN, FIRST_WON, SECOND_WON
from azero.selfplay.data.lessons import Lesson

_RESULTS = {FIRST_WON: WIN, DRAWN: DRAW, SECOND_WON: LOSS}
_MOST_COUNT = 10_000
_NEARLY_DRAWN = 1e-6  # a lesson of value 0 is a draw for certain


def lessons_of_results(records: Iterable[Record], per_game: int | None = None, seed: int = 0) -> Iterator[Lesson]:
    """Yields lessons: the value of a position is the game's result, the policy target the move that was played.

    Args:
      records: games with known results; others give no lessons.
      per_game: how many positions of a game, drawn at random; None: all. Positions of a random opening do not count.
    """
    rng = np.random.default_rng(seed)
    for record in records:
        if record.result in _RESULTS:
            actions = record.actions()
            for ply, state in _positions(record, per_game, rng):
                value = float(_RESULTS[record.result] * sign_of(state.current_player()))
                yield Lesson(state, value + 0.0, {actions[ply]: 1})


def lessons_by_agent(
    records: Iterable[Record],
    agent: Agent,
    per_game: int | None = None,
    seed: int = 0,
    on_position: Callable[[], object] = lambda: None,
) -> Iterator[Lesson]:
    """Yields lessons: the value and the policy target are those of an agent's search, each position once.

    An agent at a level judges at full strength. Raises BadInput if the agent does not judge positions.
    """
    agent = agent.at_full_strength
    if not agent.judges_positions:
        raise BadInput(f"agent {agent.name!r} does not judge positions; lessons need a net or a search")
    rng, seen = np.random.default_rng(seed), set[object]()
    for record in records:
        for _, state in _positions(record, per_game, rng):
            key = state.position_key()
            if key not in seen:
                seen.add(key)
                yield _judged(state, agent)
            on_position()


def _positions(record: Record, per_game: int | None, rng: np.random.Generator) -> list[tuple[int, State]]:
    """Returns positions of the main line in which there was a choice, with their plies.

    They have a history only if it leads to them from the initial position.
    """
    is_replayable = record.start.is_replayable()
    first, last = record.num_opening_plies, len(record.line())
    plies = [
        (ply, state if is_replayable else State.from_record(state.game, state.record))
        for ply, state in enumerate(record.states())
        if first <= ply < last and len(state.legal_actions()) > 1
    ]
    if per_game is None or per_game >= len(plies):
        return plies
    return [plies[k] for k in sorted(rng.choice(len(plies), per_game, replace=False))]


def _judged(state: State, agent: Agent) -> Lesson:
    found = agent.suggest(state)
    visits: Counter[int] = Counter()
    for move in found.moves:
        if move.visits and move.proven != "loss":
            visits[move.action] += move.visits  # several whole turns may begin with the same action
    value = (found.value or _NEARLY_DRAWN) if found.proven is None else VALUES[found.proven]
    if found.proven or not visits or not agent.judges_all_moves:  # alpha-beta's visits say what was hard to refute
        visits = Counter([found.action])
    scale = max(1.0, max(visits.values()) / _MOST_COUNT)
    return Lesson(state, value, {action: max(1, round(count / scale)) for action, count in visits.items()})
