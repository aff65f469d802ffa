"""The Python interface of a game, named as in OpenSpiel: `Game` creates states, and `State` is a position."""

import functools
import html
from collections.abc import Callable, Sequence

import numpy as np

from azero.compiler.jit import compile_errors
from azero.compiler.plain import call
from azero.compiler.rng import new_rng
from azero.errors import NO_ACTION, TOO_LONG, BadInput, BrokenRules
from azero.games import kernels
from azero.games.contract import ONGOING, Places, Rules, Symmetries
from azero.games.defaults import has_own
from azero.games.kernels import new_states
from azero.games.names import name_of
from azero.games.pictures.checking import Picture, picture_of
from azero.games.reasons import after_actions, broken_rules, fails_with, failure_in, listed, short

_MOVES = "moves:"  # begins the text of a position that is given by the moves that lead to it


class Game:
    """A game with its parameters.

    Attributes:
      rules: the rules, with the parameters as fields.
      name: the name, as `make_game` takes it.
      num_actions: A, the number of actions.
      max_plies: an upper bound on the plies of a game.
      planes_shape: (C, H, W), the shape of the net's input.
    """

    def __init__(self, rules: Rules):
        self.rules = rules
        self.name = name_of(rules)
        self.num_actions = rules.num_actions
        self.max_plies = rules.max_plies
        self.planes_shape = rules.planes_shape

    @functools.cached_property
    def symmetries(self) -> Symmetries:
        """The symmetries of cells and actions, the identity first."""
        return self.rules.symmetries()

    @functools.cached_property
    def training_symmetries(self) -> Symmetries:
        """The symmetries in which training sees positions: those of the game, then each of the exchanged position.

        Without `exchange_players` there are only the first ones.
        """
        if not has_own(self.rules, "exchange_players"):
            return self.symmetries
        exchange = self.rules.exchange()
        tables = zip(self.symmetries, exchange, strict=True)
        return Symmetries(*(np.concatenate([own, exchanged[own]]) for own, exchanged in tables))

    @functools.cached_property
    def places(self) -> Places:
        """The planes, cells and slots of actions; raises BadInput if the rules have no `places`."""
        return Places(*self.rules.places())

    def new_initial_state(self) -> "State":
        """Returns the initial position."""
        return State(self)

    def state_from_moves(self, text: str, start: "State | None" = None) -> "State":
        """Returns the position after moves in the game's notation; raises BadInput if one of them cannot be played.

        Args:
          start: the position before the moves, the initial position by default. It is not changed.
        """
        state = start.clone() if start else self.new_initial_state()
        for ply, move in enumerate(self.rules.split_moves(text), start=1):
            if state.is_terminal():
                raise BadInput(f"move {ply}, {move!r}: the game was over after {ply - 1} moves")
            try:
                state.apply_action(self.text_to_action(state, move))
            except BadInput as error:
                raise BadInput(f"move {ply}: {error}") from None
        return state

    def state_from_text(self, text: str) -> "State":
        """Returns a position from its text; raises BadInput if it is none, or is seen to be impossible.

        Args:
          text: what `State.to_text` returns; or a drawn board, and below it the player to move, X or O, unless the
            number of stones decides that; or `moves: ...`, the moves from the initial position.
        """
        start, text = self.new_initial_state(), str(text).strip()
        if text.startswith(_MOVES):
            return self.state_from_moves(text.removeprefix(_MOVES))
        try:
            self.rules.text_to_position(start.record, text)
            return State.from_record(self, start.record)
        except BadInput as error:
            initial = State(self).to_text()
            raise BadInput(f"position {short(text)}: {error}; the initial position is {initial!r}") from None

    def action_to_text(self, state: "State", action: int) -> str:
        """Returns a legal action of `state` in the game's notation."""
        return self.rules.action_to_text(state.record, action)

    def lines_to_text(self, state: "State", lines: Sequence[Sequence[int]]) -> list[list[str]]:
        """Returns lines of play from `state`, each of one or more actions, in the game's notation."""
        return kernels.lines_to_text(self.rules, state.record, lines)

    def text_to_action(self, state: "State", text: str) -> int:
        """Returns the legal action of `state` that `text` names; raises BadInput if there is none."""
        action = self.rules.text_to_action(state.record, text)
        if action not in state.legal_actions():
            if state.is_terminal():
                raise BadInput(f"{text!r} cannot be played: the game is over")
            legal = listed([self.action_to_text(state, each) for each in state.legal_actions()])
            raise BadInput(f"{text!r} is not legal here; legal moves: {legal}")
        return action

    def picture(self, state: "State") -> Picture:
        """Returns the position as a board that a program can draw; raises BadInput if the game's own is not right."""
        return picture_of(self.rules, state.record, state.legal_actions(), state.history())

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"make_game({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.rules == other.rules and type(self.rules) is type(other.rules)

    def __hash__(self) -> int:
        return hash(self.name)


class State:
    """A position and the actions that led to it. `record` is the position as a record of the rules' state dtype.

    Positions of one game are equal if they have the same key, in spite of different histories. If the game is not
    history-free, as Go, their records must be equal. A state changes as it is played, so it cannot be hashed: use
    `hash_key()` as the key of a dict.
    """

    def __init__(self, game: Game):
        self.game = game
        self.record: np.record = new_states(game.rules, 1)[0]
        self._history: list[int] = []
        self._play(-1)

    @classmethod
    def from_record(cls, game: Game, record: np.record, history: Sequence[int] = ()) -> "State":
        """Returns a position with a copy of `record`. `history` has the actions that led to it, if they are known."""
        state = cls.__new__(cls)
        state.game, state._history = game, list(history)
        states = new_states(game.rules, 1)
        states[0] = record
        state.record = states[0]
        legal = np.empty(game.num_actions, np.int32)
        state._note(legal, *call(kernels.look, game.rules, state.record, legal))
        return state

    def _play(self, action: int) -> None:
        legal = np.empty(self.game.num_actions, np.int32)
        try:
            found = call(kernels.advance, self.game.rules, self.record, action, legal)
        except (BadInput, OSError):
            raise
        except Exception as error:
            if not self._history or isinstance(error, compile_errors()):  # the compiler runs at the first call
                raise
            what = failure_in(error, self.game.name) or f"{self.game.name} {fails_with(error, '')}"
            raise BrokenRules(f"{what}{after_actions(self._history)}") from error
        self._note(legal, *found)

    def _note(self, legal: np.ndarray, num_legal: int, player: int, outcome: int) -> None:
        self._legal = legal[:num_legal].tolist()
        self._player, self._outcome = int(player), int(outcome)
        if num_legal == 0 and not self.is_terminal():
            raise broken_rules(self.game.name, NO_ACTION, self._history)
        if len(self._history) > self.game.max_plies:
            raise broken_rules(self.game.name, TOO_LONG, self._history)

    def legal_actions(self) -> list[int]:
        """Returns the legal actions in ascending order; none if the game is over."""
        return list(self._legal)

    def apply_action(self, action: int) -> None:
        """Plays an action; raises BadInput if it is not legal, BrokenRules if the rules break their contract."""
        if action not in self._legal:
            over = "the game is over" if self.is_terminal() else f"legal actions: {listed(map(str, self._legal))}"
            raise BadInput(f"action {action} is not legal here; {over}")
        self._history.append(int(action))
        self._play(int(action))

    def current_player(self) -> int:
        """Returns the player to move, 0 (first) or 1; -4 if the game is over, as in OpenSpiel."""
        return -4 if self.is_terminal() else self._player

    def is_terminal(self) -> bool:
        """Returns whether the game is over."""
        return self._outcome != ONGOING

    def final_score(self) -> float:
        """Returns the margin by which the first player has won, in the game's units: points in Go, discs in Othello."""
        return float(call(kernels.final_score, self.game.rules, self.record))

    def ownership(self) -> np.ndarray:
        """Returns the owner of each cell of a finished game, [H, W] int8: 1 the first player, -1 the second, 0 none."""
        owners = np.zeros(self.game.planes_shape[1:], np.int8)
        call(kernels.ownership, self.game.rules, self.record, owners)
        return owners

    def returns(self) -> list[float]:
        """Returns the results of the two players: 1 for a win, 0 for a draw, -1 for a loss; zeros while it goes on."""
        first = float(self._outcome) if self.is_terminal() else 0.0
        return [first, 0.0 - first]

    def history(self) -> list[int]:
        """Returns the actions that led to this position."""
        return list(self._history)

    def is_replayable(self) -> bool:
        """Returns whether the history leads from the initial position to this one."""
        replayed = self.game.new_initial_state()
        for action in self._history:
            if action not in replayed._legal:
                return False
            replayed.apply_action(action)
        return replayed == self

    def clone(self) -> "State":
        """Returns an independent copy."""
        copy, states = State.__new__(State), new_states(self.game.rules, 1)
        states[0] = self.record  # not the bytes between the fields
        copy.__dict__.update(self.__dict__, record=states[0], _history=list(self._history))
        return copy  # nobody changes `_legal`, so both share it

    def planes(self) -> np.ndarray:
        """Returns the net's input, [C, H, W] float32, from the point of view of the player to move."""
        planes = np.empty(self.game.planes_shape, np.float32)
        call(kernels.encode, self.game.rules, self.record, planes)
        return planes

    def hash_key(self) -> int:
        """Returns the 64-bit key of the position, an unsigned integer. Equal positions have equal keys."""
        return int(call(kernels.hash_key, self.game.rules, self.record)) & 0xFFFF_FFFF_FFFF_FFFF

    def position_key(self) -> int | bytes:
        """Returns a key of a dict for the position. In games that are not history-free, the past is part of it."""
        return self.hash_key() if self.game.rules.is_history_free else self.record.tobytes()

    def draw(self, marks: dict[int, str] | None = None) -> str:
        """Returns the board as text, with `marks` (action to short text) at the actions' places."""
        return self.game.rules.draw(self.record, marks or {})

    def to_text(self) -> str:
        """Returns the position in one line, for `Game.state_from_text`. In Go it lacks the earlier boards.

        It is `moves: ...` if the game does not write positions; then raises BadInput if the moves are not known.
        """
        if has_own(self.game.rules, "position_to_text"):
            return self.game.rules.position_to_text(self.record)
        if not self.is_replayable():
            raise BadInput(f"{self.game} does not write positions, and the moves that led to this one are not known")
        lines = [self._history] if self._history else []
        return " ".join([_MOVES, *(" ".join(line) for line in self.game.lines_to_text(State(self.game), lines))])

    def __str__(self) -> str:
        return self.draw()

    def _repr_html_(self) -> str:
        """Returns the board for a notebook."""
        return f"<pre>{html.escape(self.draw())}</pre>"

    def __repr__(self) -> str:
        try:
            return f"{self.game!r}.state_from_text({self.to_text()!r})"
        except BadInput:
            return f"<State of {self.game} after unknown moves>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.game == other.game and self.position_key() == other.position_key()

    __hash__ = None  # type: ignore[assignment]


def check_states(game: Game, states: Sequence[State]) -> None:
    """Raises BadInput unless these are positions of `game`, at least one, in which a move can be played."""
    if not isinstance(states, Sequence) or not len(states):
        raise BadInput("positions are needed: a list of states, at least one")
    for number, state in enumerate(states):
        if not isinstance(state, State) or state.game != game:
            raise BadInput(f"position {number} is {_owner_of(state)}; it should be one of {game}")
        if state.is_terminal():
            raise BadInput(f"position {number} is the end of a game; it should have a move to play")


def is_forced_pass(state: State) -> bool:
    """Returns whether a pass is the only legal move."""
    legal = state.legal_actions()
    return len(legal) == 1 and state.game.action_to_text(state, legal[0]) == "pass"


def _owner_of(state: object) -> str:
    return f"one of {state.game}" if isinstance(state, State) else f"a {type(state).__name__}"


def rollout_action_of(state: State, seed: int) -> int:
    """Returns an action of the rollout policy. It may change scratch fields of the state's record."""
    return int(_roll_out(kernels.rollout_action, state, new_rng(seed)))


def rollout_of(state: State, seed: int) -> int:
    """Plays to the end by the rollout policy and returns the outcome. The state is not valid afterwards."""
    return int(_roll_out(kernels.rollout, state, new_rng(seed), state.game.max_plies))


def _roll_out(kernel: Callable, state: State, *arguments: object) -> int:
    legal = np.zeros(state.game.num_actions, np.int32)
    try:
        return kernel(state.game.rules, state.record, legal, *arguments)
    except BrokenRules as error:
        raise broken_rules(state.game.name, f"{error}, in a rollout", state.history()) from None


def target_of(state: State, action: int) -> int:
    """Returns the cell at which a legal action takes place; a number outside the board if it has no cell."""
    return int(call(kernels.target, state.game.rules, state.record, action))


def exchanged(state: State) -> State | None:
    """Returns the position with the players exchanged, None if the rules have none."""
    copy = state.clone()
    call(kernels.exchange_players, state.game.rules, copy.record)
    if copy.record.tobytes() == state.record.tobytes():
        return None
    return State.from_record(state.game, copy.record)


def compile_rules(game: Game) -> None:
    """Compiles every method that positions, rollouts and nets need, or loads it from the cache of kernels.

    A user's rules that cannot be compiled raise an error of the compiler.
    """
    state = game.new_initial_state()
    state.planes(), state.hash_key(), state.final_score()
    State.from_record(game, state.record)
    if has_own(game.rules, "ownership"):
        state.ownership()
    if has_own(game.rules, "rollout_action"):
        rollout_action_of(state.clone(), seed=0)
    if has_own(game.rules, "rollout"):
        rollout_of(state.clone(), seed=0)
    if has_own(game.rules, "target"):
        target_of(state, state.legal_actions()[0])
    if has_own(game.rules, "exchange_players"):
        exchanged(state)
    kernels.note_compiled(game.rules)
