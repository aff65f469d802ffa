"""KataGo's analysis engine, for every game: queries as lines of JSON, answers in any order.

Source: KataGo, Analysis_Engine.md. What differs is in docs/protocols.md.
"""

import heapq
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import azero
from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import UNLIMITED, Limit
from azero.arena.agents.opened import AllInUse, Opened
from azero.arena.agents.suggestion import Move, Suggestion
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.names import KOMI
from azero.games.position_text import PLAYERS
from azero.interfaces.engines.engine import Report, Search, Task, prepare, with_parameters, with_size
from azero.interfaces.engines.lines import Lines
from azero.interfaces.engines.positions import (
    Vertices,
    actions_of,
    after_move,
    complaint_of_rules,
    player_of,
    points_name,
    stones_of,
    turned_to,
    with_stones,
)
from azero.interfaces.engines.rates import bound_of, lower_bound, win_rate

_PLAYERS = {"b": 0, "black": 0, "w": 1, "white": 1}
_SIDES = {"BLACK": 0, "WHITE": 1, "SIDETOMOVE": None}
_KNOWN = {
    *("id", "moves", "initialStones", "initialPlayer", "rules", "komi", "boardXSize", "boardYSize", "analyzeTurns"),
    *("maxVisits", "includePolicy", "includeOwnership", "includeMovesOwnership", "overrideSettings"),
    *(
        "includePVVisits",
        "reportDuringSearchEvery",
        "firstReportDuringSearchAfter",
        "priority",
        "priorities",
        "analysisPVLen",
    ),
    *("avoidMoves", "allowMoves"),
}
_WITHOUT_EFFECT = {
    *("whiteHandicapBonus", "rootPolicyTemperature", "rootFpuReductionMax"),
    *("includeOwnershipStdev", "includeMovesOwnershipStdev", "includeNoResultValue"),
}
"""Fields that mean something to KataGo alone. They are taken, as its clients send them with every query."""

_MOST_AGENTS = 4  # games, or sizes and komi, whose agents stay open
_MOST_JOBS = 10_000  # that wait; while there are as many, no query is read
_LONGEST_S = 1e6
_LARGEST = 1e15  # number; beyond it, floats have no halves


class Wrong(Exception):
    """A query is wrong: the field, and why."""

    def __init__(self, name: str, why: str):
        super().__init__(why)
        self.name = name


class Query(NamedTuple):
    """What all turns of a query share."""

    id: str
    game: Game
    limit: Limit
    every_s: float | None
    first_s: float
    side: int | None  # whose the values are; None: the player to move
    has_policy: bool
    has_ownership: bool
    has_ownership_of_moves: bool
    has_visits: bool  # of the moves of principal variations
    avoid: list[tuple[int, list[str]]]
    allow: list[tuple[int, list[str]]]
    most_pv: int


@dataclass(order=True)
class Job:
    """A position to analyse. The one with the highest priority comes first, then the one that came first."""

    rank: tuple[int, int]
    query: Query = field(compare=False)
    turn: int = field(compare=False)
    state: State = field(compare=False)
    allowed: list[int] | None = field(compare=False)  # the actions that are told; None: all


class Analysis:
    """Answers queries, one position after another; each on all threads.

    Args:
      quits_at_once: whether the end of the input ends it before the queries are answered.
    """

    def __init__(self, make: Callable[[Game | None], Agent], lines: Lines[Report], quits_at_once: bool = False):
        self._make, self._lines, self._quits_at_once = make, lines, quits_at_once
        first = make(None)
        prepare(first)
        self._game, self._limit = first.game, first.limit
        self._keeps_score = "score" in first.at_full_strength.heads_of(first.game.new_initial_state())
        self._agents = Opened[Game, Agent](_MOST_AGENTS, lambda agent: agent.close(), self._is_free)
        self._agents.use(first.game, lambda: first)
        self._jobs: list[Job] = []
        self._number = 0
        self._job: Job | None = None
        self._search: Search | None = None
        self._used: Agent | None = None
        self._has_complained = False

    def _is_free(self, agent: Agent) -> bool:
        return agent is not self._used

    def run(self) -> None:
        """Answers until the end of the input, and then what was asked before."""
        while True:
            self._start_next()
            if self._lines.is_over and self._quits_at_once:
                return
            event: str | Report | None
            if len(self._jobs) >= _MOST_JOBS:
                event = self._lines.event()
            elif not self._lines.is_used_up:
                event = self._lines.next()
            elif self._job is None:
                return
            else:
                event = self._lines.event()
            if isinstance(event, Report):
                self._take(event)
            elif event is not None and event.strip():
                self._ask(event)

    def close(self) -> bool:
        """Ends searches; returns whether they have ended."""
        has_ended = self._search is None or self._search.end()
        if has_ended:
            self._agents.close()
        return has_ended

    def _write(self, answer: dict[str, Any]) -> None:
        self._lines.write(json.dumps(answer) + "\n")

    # --- queries ---

    def _ask(self, line: str) -> None:
        """Reads a line: queues its positions, does what it says, or answers what is wrong with it."""
        try:
            asked = json.loads(line, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError) as error:
            self._write({"error": f"{error} - could not parse input line as json request: {line[:200]}"})
            return
        if not isinstance(asked, dict):
            self._write({"error": f"Request line was valid json but was not an object, ignoring: {line[:200]}"})
            return
        if not isinstance(asked.get("id"), str):
            self._write({"error": 'Request must have a string "id" field'})
            return
        try:
            if "action" in asked:
                self._act(asked)
            else:
                self._queue(asked)
        except Wrong as wrong:
            self._write({"error": str(wrong), "field": wrong.name, "id": asked["id"]})
        except BadInput as error:
            self._write({"error": str(error), "id": asked["id"]})
        except (TypeError, ArithmeticError, RecursionError) as error:  # a value of a form that nobody expects
            self._write({"error": f"Could not read the query: {error}", "id": asked["id"]})

    def _act(self, asked: dict[str, Any]) -> None:
        action = asked["action"]
        if action == "query_version":
            self._write({**asked, "version": azero.__version__, "git_hash": "<omitted>"})
        elif action == "query_models":
            self._write({**asked, "models": [{"name": self._agents_name(), "usesHumanSLProfile": False}]})
        elif action == "clear_cache":
            self._write(asked)
        elif action in ("terminate", "terminate_all"):
            turns = asked.get("turnNumbers")
            if turns is not None and not (isinstance(turns, list) and all(map(_is_whole, turns))):
                raise Wrong("turnNumbers", "If provided, must be an array of integers indicating turns to terminate")
            if action == "terminate" and not isinstance(asked.get("terminateId"), str):
                raise Wrong("terminateId", 'Requests for a terminate action must have a string "terminateId" field')
            self._write(asked)
            self._terminate(
                asked["terminateId"] if action == "terminate" else None, None if turns is None else {*turns}
            )
        else:
            known = "'query_version' or 'query_models' or 'clear_cache' or 'terminate' or 'terminate_all'"
            raise Wrong("action", f"'action' field must be {known}")

    def _agents_name(self) -> str:
        return next(agent.name for _, agent in self._agents.items())

    def _terminate(self, name: str | None, turns: set[int] | None) -> None:
        def is_meant(job: Job) -> bool:
            return (name is None or job.query.id == name) and (turns is None or job.turn in turns)

        left = [job for job in self._jobs if not is_meant(job)]
        ended, self._jobs = [job for job in self._jobs if is_meant(job)], left
        heapq.heapify(self._jobs)
        for job in ended:
            self._write({"id": job.query.id, "isDuringSearch": False, "noResults": True, "turnNumber": job.turn})
        if self._job is not None and is_meant(self._job) and self._search is not None:
            self._search.stop()

    def _queue(self, asked: dict[str, Any]) -> None:
        """Queues the positions of a query."""
        warnings = list[tuple[str, str]]()
        game = self._game_of(asked, warnings)
        query = self._query(asked, game, warnings)
        moves = _pairs(asked, "moves", needed=True)
        if len(moves) > game.max_plies:
            raise Wrong("moves", f"A game has at most {game.max_plies} moves")
        turns = asked.get("analyzeTurns", [len(moves)])
        if not isinstance(turns, list) or not all(map(_is_whole, turns)) or len(turns) > _MOST_JOBS:
            raise Wrong("analyzeTurns", "Must specify an array of integers indicating turns to analyze")
        if wrong := [turn for turn in turns if not 0 <= turn <= len(moves)]:
            raise Wrong("analyzeTurns", f"Invalid turn number: {wrong[0]}")
        priorities = _priorities(asked, len(turns))
        states = self._states(asked, game, moves, set(turns))
        allowed = {turn: self._allowed(query, state) for turn, state in states.items()}
        for name in asked.keys() - _KNOWN - _WITHOUT_EFFECT:
            warnings.append((name, "Unexpected or unused field, do you have a typo?"))
        for name, why in warnings:
            self._write({"warning": why, "field": name, "id": query.id})
        for turn, priority in zip(turns, priorities, strict=True):
            self._number += 1
            heapq.heappush(self._jobs, Job((-priority, self._number), query, turn, states[turn], allowed[turn]))

    def _game_of(self, asked: dict[str, Any], warnings: list[tuple[str, str]]) -> Game:
        """Returns the game of a query; raises Wrong. Whether the agent plays it is known when its search begins."""
        _, height, width = self._game.planes_shape
        sizes = {}
        for name, usual in (("boardXSize", width), ("boardYSize", height)):
            sizes[name] = asked.get(name, usual)
            if not _is_whole(sizes[name]) or not 1 <= sizes[name] <= 1000:
                raise Wrong(name, "Must provide a valid board size")
        try:
            game = with_size(self._game, sizes["boardXSize"], sizes["boardYSize"])
        except BadInput as error:
            raise Wrong("boardXSize", str(error)) from None
        if points_name(game) == "Go" and (complaint := complaint_of_rules(asked.get("rules", "tromp-taylor"))):
            warnings.append(("rules", complaint))
        if "komi" in asked and hasattr(game.rules, KOMI):
            komi = asked["komi"]
            if not _is_number(komi) or 2 * komi != int(2 * komi):
                raise Wrong("komi", "Must be an integer or half-integer from -361 to 361")
            try:
                game = with_parameters(game, komi=float(komi))
            except BadInput as error:
                raise Wrong("komi", str(error)) from None
        return game

    def _agent(self, game: Game) -> Agent:
        """Returns the agent of a game, which is made now if it is not open; raises BadInput if it cannot play it."""

        def make() -> Agent:
            agent = self._make(game)
            prepare(agent)
            return agent

        try:
            return self._agents.use(game, make)
        except AllInUse:
            raise BadInput("too many games at the same time") from None

    def _query(self, asked: dict[str, Any], game: Game, warnings: list[tuple[str, str]]) -> Query:
        settings = asked.get("overrideSettings", {})
        if not isinstance(settings, dict):
            raise Wrong("overrideSettings", "Must be an object")
        if unknown := settings.keys() - {"maxTime", "maxVisits", "reportAnalysisWinratesAs"}:
            warnings.append(("overrideSettings", f"Unknown config params: {','.join(sorted(unknown))}"))
        side = settings.get("reportAnalysisWinratesAs", "SIDETOMOVE")
        if not isinstance(side, str) or side not in _SIDES:
            raise Wrong("overrideSettings", "reportAnalysisWinratesAs should be BLACK, WHITE or SIDETOMOVE")
        limit = self._limit
        visits: Any = asked.get("maxVisits", settings.get("maxVisits", limit.simulations))
        if not _is_whole(visits) or visits < 1:
            raise Wrong("maxVisits", "Must be an integer of 1 or more")
        seconds: Any = settings.get("maxTime", limit.seconds)
        if seconds is not None and (not _is_number(seconds) or seconds <= 0):
            raise Wrong("overrideSettings", "maxTime should be a number of seconds greater than 0")
        every = _seconds(asked, "reportDuringSearchEvery")
        first = _seconds(asked, "firstReportDuringSearchAfter")
        if points_name(game) == "Go" and not self._has_complained and not self._keeps_score:
            warnings.append(("scoreLead", "This agent expects no score: scoreLead is 0"))
            self._has_complained = True
        return Query(
            asked["id"],
            game,
            Limit(min(visits, UNLIMITED), None if seconds is None else min(float(seconds), _LONGEST_S)),
            every,
            first or every or 0.0,
            _SIDES[side],
            _flag(asked, "includePolicy"),
            _flag(asked, "includeOwnership"),
            _flag(asked, "includeMovesOwnership"),
            _flag(asked, "includePVVisits"),
            _restrictions(asked, "avoidMoves"),
            _restrictions(asked, "allowMoves"),
            asked["analysisPVLen"] if _is_whole(asked.get("analysisPVLen")) else 10_000,
        )

    def _states(
        self, asked: dict[str, Any], game: Game, moves: list[tuple[str, str]], turns: set[int]
    ) -> dict[int, State]:
        """Returns the positions of these turns, by the number of moves before them; raises Wrong."""
        vertices = Vertices(game)
        player = asked.get("initialPlayer", "W" if moves and _player(moves[0][0], "moves") == 1 else "B")
        state = _beginning(game, _pairs(asked, "initialStones"), _player(player, "initialPlayer"), vertices)
        states = {0: state} if 0 in turns else {}
        for number, (colour, text) in enumerate(moves):
            player = _player(colour, "moves")
            try:
                state = after_move(turned_to(state, player, text), text, vertices)
            except BadInput as error:
                kind = "Illegal move" if str(error) == "illegal move" else "Could not parse board location at move"
                raise Wrong("moves", f"{kind} {number}: {text[:50]}") from None
            if number + 1 in turns:
                states[number + 1] = state
        if points_name(game) == "Go":  # controllers go on after passes
            ends = {turn: player_of(state) for turn, state in states.items() if state.is_terminal()}
            states |= {turn: turned_to(states[turn], player) for turn, player in ends.items()}
        return states

    def _allowed(self, query: Query, state: State) -> list[int] | None:
        """Returns the actions that a query lets the search try first; None: all. Raises Wrong."""
        vertices, legal, player = Vertices(query.game), set(state.legal_actions()), state.current_player()
        chosen = set(legal)
        try:
            allowed = [actions_of(state, points, vertices) for whose, points in query.allow if whose == player]
            for points in (points for whose, points in query.avoid if whose == player):
                chosen -= actions_of(state, points, vertices)
        except BadInput:
            raise Wrong("avoidMoves" if query.avoid else "allowMoves", "Could not parse board location") from None
        if allowed:
            chosen &= set().union(*allowed)
        return sorted(chosen) if chosen != legal else None

    # --- answers ---

    def _start_next(self) -> None:
        """Starts the next search, if none runs. The end of a game needs none."""
        while self._job is None and self._jobs:
            job = heapq.heappop(self._jobs)
            if job.state.is_terminal():
                self._write(_end_answer(job))
                continue
            try:
                agent = self._agent(job.query.game)
            except BadInput as error:
                self._write({"error": str(error), "id": job.query.id})
                continue
            query = job.query
            task = Task(query.limit, None, query.every_s, job.allowed or None, counts_lines=query.has_visits)
            self._job, self._used = job, agent
            self._search = Search(agent, job.state, task, self._lines)

    def _take(self, report: Report) -> None:
        job = self._job
        if job is None or report.search is not self._search:
            return
        if report.error is not None and not isinstance(report.error, BadInput):
            raise report.error
        if report.error is not None:
            self._write({"error": str(report.error), "id": job.query.id})
        elif report.found is not None and (report.is_last or report.found.elapsed_s >= 0.9 * job.query.first_s):
            self._write(_answer(job, report))
        if report.is_last:
            self._job = self._used = self._search = None


def _beginning(game: Game, stones: Sequence[tuple[str, str]], player: int, vertices: Vertices) -> State:
    """Returns the position before the moves."""
    start = game.new_initial_state()
    if not stones:
        try:
            return turned_to(start, player)
        except BadInput:
            raise Wrong("initialPlayer", "this player cannot begin") from None
    try:
        cells = stones_of(start)
        for colour, point in stones:
            action = game.rules.text_to_action(start.record, vertices.read(point))
            cells[action] = PLAYERS[_player(colour, "initialStones")]
        return with_stones(game, cells, player)
    except (BadInput, IndexError):
        raise Wrong("initialStones", "This game has no such position") from None


def _priorities(asked: dict[str, Any], number: int) -> list[int]:
    if "priorities" not in asked:
        priority = asked.get("priority", 0)
        if not _is_whole(priority):
            raise Wrong("priority", "Must be an integer")
        return [priority] * number
    priorities = asked["priorities"]
    if "priority" in asked:
        raise Wrong("priority", "Cannot specify both priority and priorities")
    if not isinstance(priorities, list) or not all(map(_is_whole, priorities)):
        raise Wrong("priorities", "Must specify an array of integers indicating priorities")
    if "analyzeTurns" not in asked or len(priorities) != number:
        raise Wrong("priorities", "Must be of matching length to analyzeTurns")
    return priorities


def _restrictions(asked: dict[str, Any], name: str) -> list[tuple[int, list[str]]]:
    """Returns players and points of avoidMoves or allowMoves."""
    if "avoidMoves" in asked and "allowMoves" in asked and asked["avoidMoves"] and asked["allowMoves"]:
        raise Wrong("allowMoves", "Cannot specify both allowMoves and avoidMoves")
    given = asked.get(name, [])
    form = Wrong(name, "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'")
    if not isinstance(given, list):
        raise form
    found = []
    for each in given:
        if (
            not isinstance(each, dict)
            or not isinstance(each.get("moves"), list)
            or not _is_whole(each.get("untilDepth"))
        ):
            raise form
        if not all(isinstance(move, str) for move in each["moves"]):
            raise form
        found.append((_player(each.get("player"), name), sorted({*each["moves"]})))
    return found


def _pairs(asked: dict[str, Any], name: str, needed: bool = False) -> list[tuple[str, str]]:
    given = asked.get(name, None if needed else [])
    if given is None:
        raise Wrong(name, "Must specify an array of [player,location] pairs")
    form = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'
    if not isinstance(given, list):
        raise Wrong(name, form)
    for each in given:
        if not isinstance(each, list) or len(each) != 2 or not all(isinstance(part, str) for part in each):
            raise Wrong(name, form)
    return [(each[0], each[1]) for each in given]


def _player(text: object, name: str) -> int:
    if not isinstance(text, str) or text.lower() not in _PLAYERS:
        raise Wrong(name, f"Could not parse player: {str(text)[:50]}")
    return _PLAYERS[text.lower()]


def _seconds(asked: dict[str, Any], name: str) -> float | None:
    given = asked.get(name)
    if given is not None and (not _is_number(given) or not 0.001 <= given <= _LONGEST_S):
        raise Wrong(name, "Must be number of seconds from 0.001 to 1000000")
    return given


def _finite(text: str) -> float:
    """Returns a number of JSON, which has no infinity; raises ValueError."""
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is no number")
    return value


def _flag(asked: dict[str, Any], name: str) -> bool:
    given = asked.get(name, False)
    if not isinstance(given, bool):
        raise Wrong(name, "Must be a boolean")
    return given


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 60


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _answer(job: Job, report: Report) -> dict[str, Any]:
    """Returns the answer to a position, or what is known of it so far."""
    found, query = report.found, job.query
    assert found is not None, "the search has found something"
    is_turned = query.side is not None and query.side != found.to_move
    vertices, score = Vertices(query.game), found.score
    seen = [move for move in found.moves if (move.visits or move.proven) and job.allowed != []]
    answer: dict[str, Any] = {
        "id": query.id,
        "turnNumber": job.turn,
        "isDuringSearch": not report.is_last,
        "moveInfos": [_move_info(order, move, report, query, vertices, is_turned) for order, move in enumerate(seen)],
        "rootInfo": {
            "currentPlayer": "BW"[found.to_move],
            "visits": found.simulations,
            **_values(found.value, bound_of(win_rate(found.value), found.simulations), is_turned),
            **_scores(query.game, score, is_turned),
            "thisHash": f"{report.search.state.hash_key():016X}",
        },
    }
    if query.has_ownership:
        answer |= _owners(found.ownership, is_turned)
    if query.has_policy:
        answer["policy"] = _policy(found, query.game)
    return answer


def _move_info(
    order: int, move: Move, report: Report, query: Query, vertices: Vertices, is_turned: bool
) -> dict[str, Any]:
    assert report.found is not None, "the search has found something"
    pv = [vertices.write(text) for text in move.pv][: query.most_pv + 1]
    after = report.after.get(move.action, {})
    score, visits = after.get("score", report.found.score), report.visits.get(move.action, [])[: len(pv)]
    return {
        "move": pv[0] if pv else vertices.write(move.move),
        "visits": move.visits,
        "edgeVisits": move.visits,
        "prior": move.prior,
        **_values(move.value, lower_bound(move), is_turned),
        **_scores(query.game, score, is_turned),
        "order": order,
        "pv": pv,
        **({"pvVisits": visits, "pvEdgeVisits": visits} if visits else {}),
        **(_owners(after.get("ownership"), is_turned) if query.has_ownership_of_moves else {}),
    }


def _owners(owners: np.ndarray | None, is_turned: bool) -> dict[str, Any]:
    sign = -1.0 if is_turned else 1.0
    return {} if owners is None else {"ownership": [round(sign * float(owner), 4) for owner in owners.ravel()]}


def _values(value: float, low: float, is_turned: bool) -> dict[str, float]:
    rate = win_rate(value)
    if is_turned:
        value, rate, low = 0.0 - value, 1.0 - rate, 1.0 - low
    return {"winrate": rate, "utility": value, "lcb": low, "utilityLcb": 2.0 * low - 1.0}


def _scores(game: Game, score: float | None, is_turned: bool) -> dict[str, float]:
    """Returns the expected score; in Go it is 0 if it is not known, since clients such as KaTrain need a number."""
    if score is None and points_name(game) != "Go":
        return {}
    lead = 0.0 if score is None else -score if is_turned else score
    return {"scoreLead": lead, "scoreMean": lead, "scoreSelfplay": lead, "scoreStdev": 0.0}


def _policy(found: Suggestion, game: Game) -> list[float]:
    """Returns the prior of each action, -1 for those that are not legal: points by rows from the top, then the pass."""
    policy = [-1.0] * game.num_actions
    total = sum(move.prior for move in found.moves) or 1.0
    for move in found.moves:
        policy[move.action] = move.prior / total
    return policy


def _end_answer(job: Job) -> dict[str, Any]:
    """Returns the answer to the end of a game: its result."""
    side = job.query.side or 0
    value = job.state.returns()[side]
    rate = win_rate(value)
    root = {"currentPlayer": "BW"[side], "visits": 1, "winrate": rate, "utility": value, "lcb": rate}
    scores = _scores(job.query.game, job.state.final_score() * (1 if side == 0 else -1), False)
    info = {"isDuringSearch": False, "moveInfos": [], "rootInfo": {**root, **scores}}
    return {"id": job.query.id, "turnNumber": job.turn, **info}
