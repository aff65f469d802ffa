"""The laws that every game must keep, checked in random games by `azero check-game` and by the test of each game."""

import random
from collections.abc import Callable, Iterator

import numpy as np

from azero.compiler.jit import IS_COMPILED
from azero.compiler.plain import plain_python
from azero.errors import BadInput
from azero.games.contract import DRAW, LOSS, ONGOING, WIN
from azero.games.defaults import has_own
from azero.games.laws.findings import Notes, hold, looks_of, walk_game
from azero.games.laws.keys import check_keys
from azero.games.laws.symmetries import check_exchange, check_places, check_symmetries, check_symmetry_tables
from azero.games.pictures.checking import check_picture, own_picture, shared_clicks
from azero.games.pictures.picture import Picture
from azero.games.reasons import short
from azero.games.state import Game, State, exchanged, rollout_action_of, rollout_of, target_of
from azero.games.user.trial import Interpreted

_KEY_HINT = "; compiled, np.uint64 with a plain integer is signed: write np.uint64(...) around the integer"
_LEAST_HASH = 1 << 53
"""Keys below it are not hashes. The hint is for hashes."""

_TEXTS = "position_to_text", "text_to_position"

_NUM_TRIED = 3
"""Moves after which a position and the one that was read from its text are compared again."""


def _compare(state: State, plain: Interpreted, before: list[int], action: int | None) -> None:
    """Raises Broken if compiled and plain rules differ in a position, in which `action` is played next."""
    game = state.game
    outcome, legal = plain.look()
    expected = int(state.returns()[0]) if state.is_terminal() else ONGOING
    pairs = {
        "outcome": (expected, outcome),
        **{f"state.{name}": (state.record[name], plain.state[name]) for name in game.rules.state_dtype.names or ()},
        "legal_actions": (state.legal_actions(), legal),
        "hash_key": (state.hash_key(), plain.hash_key()),
        "final_score": (state.final_score(), plain.final_score()),
    }
    if state.is_terminal() and has_own(game.rules, "ownership"):
        pairs["ownership"] = state.ownership(), plain.ownership()
    if not state.is_terminal():
        pairs["current_player"] = state.current_player(), plain.current_player()
        pairs["planes"] = state.planes(), plain.planes()
        if has_own(game.rules, "exchange_players"):
            pairs |= _exchanged_both_ways(state, plain)
    if action is not None:
        pairs["target"] = target_of(state, action), plain.target(action)
    for what, (compiled, in_python) in pairs.items():
        if not np.array_equal(compiled, in_python):
            is_hash = what == "hash_key" and max(compiled, in_python) > _LEAST_HASH
            hint = plain.overflows.note() or (_KEY_HINT if is_hash else "")
            shown = f"{short(compiled)} compiled, {short(in_python)} in plain Python{hint}"
            hold(False, f"{what} is {shown}", game, before)


def _exchanged_both_ways(state: State, plain: Interpreted) -> dict[str, tuple]:
    """Returns each field of the exchanged state, compiled and in plain Python."""
    other, in_python = exchanged(state) or state, plain.exchanged()
    names = in_python.dtype.names or ()
    return {f"state.{name} after exchange_players": (other.record[name], in_python[name]) for name in names}


def check_compiled(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Compiled methods do the same as in plain Python. `reset` makes any state the initial one."""
    plain = Interpreted(game.rules, game.name)
    plain.reset()
    for state, before, action in walk_game(game, actions):
        if notes.has_time():
            _compare(state, plain, before, action)
        if action is not None:
            plain.apply_action(action)
    plain.reset()
    first = game.new_initial_state().record
    left = [name for name in first.dtype.names or () if not np.array_equal(plain.state[name], first[name])]
    hold(not left, f"reset does not set state.{' and state.'.join(left)}", game, actions)


def check_positions(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Copies are equal and independent. Legal actions can be played. Reading a position does not change it."""
    for state, before, action in walk_game(game, actions):
        if not notes.has_time():
            continue
        looks, copy = looks_of(state), state.clone()
        hold(looks_of(copy) == looks, "a copy differs from its state", game, before)
        if action is None:
            break
        for other in chooser.sample(state.legal_actions(), min(3, len(state.legal_actions()))):
            copy = state.clone()
            copy.apply_action(other)
            text = game.action_to_text(state, other)
            hold(copy.record.tobytes() != state.record.tobytes(), f"{text} changes nothing", game, before)
            hold(looks_of(state) == looks, f"{text} in a copy changes the state it was copied from", game, before)


def check_results(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """A player moves until the end, and none after it. The game is zero-sum. The score has the sign of the result."""
    for state, before, action in walk_game(game, actions):
        returns = state.returns()
        hold(returns[0] == -returns[1], f"returns are {returns}", game, before)
        if action is not None:
            hold(not state.is_terminal() and returns == [0, 0], "the game is over, but a move is legal", game, before)
            hold(state.current_player() in (0, 1), f"current_player is {state.current_player()}", game, before)
            hold(action in state.legal_actions(), f"action {action} is legal in plain Python only", game, before)
            continue
        hold(state.is_terminal() and returns[0] in (WIN, DRAW, LOSS), f"the game ends with {returns}", game, before)
        score = state.final_score()
        hold(np.sign(score) == returns[0], f"the result is {returns[0]:+g}, the score {score:+g}", game, before)


def check_rollouts(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """The rollout policy returns legal actions and does not change the position. A rollout ends with a result."""
    ply = chooser.randrange(len(actions) + 1)
    for state, before, action in walk_game(game, actions):
        if action is None:
            break
        if len(before) != ply and not notes.has_time():
            continue
        copy = state.clone()
        chosen = rollout_action_of(copy, chooser.getrandbits(63))
        is_legal = chosen in state.legal_actions() or not game.rules.is_history_free
        hold(is_legal, f"rollout_action returns {chosen}, which is not legal", game, before)
        hold(looks_of(copy)[:-1] == looks_of(state)[:-1], "rollout_action changes the position", game, before)
        if len(before) == ply and has_own(game.rules, "rollout"):
            result = rollout_of(copy, chooser.getrandbits(63))
            hold(result in (WIN, DRAW, LOSS), f"rollout returns {result}, which is not WIN, DRAW or LOSS", game, before)


def check_text(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Each legal action has its own text, which leads back to it. The record of a game can be split and replayed."""
    texts: list[str] = []
    for state, before, action in walk_game(game, actions):
        for each in state.legal_actions() if notes.has_time() else ():
            text = game.action_to_text(state, each)
            back = game.rules.text_to_action(state.record, text)
            hold(back == each, f"action {each} is written {text!r}, but {text!r} is read as {back}", game, before)
        if action is not None:
            texts.append(game.action_to_text(state, action))
    for separator in (" ", ", ", "; ", "\n"):
        split = game.rules.split_moves(separator.join(texts))
        hold(split == texts, f"split_moves returns {short(split)} for moves joined by {separator!r}", game, actions)
    replayed = game.state_from_moves(" ".join(texts))
    hold(replayed.history() == actions, "the moves as text lead to another game", game, actions)


def check_position_text(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """A position that is read from its text has the same text, turn, result, planes and legal actions, and equal keys.

    So have the positions after a move. A game that is not history-free may have other legal actions and other results,
    and so its positions after a move are not compared.
    """
    own = [name for name in _TEXTS if has_own(game.rules, name)]
    if not own:
        return
    hold(len(own) == 2, f"{own[0]} is defined without the other one of {' and '.join(_TEXTS)}", game)
    is_history_free = game.rules.is_history_free
    for state, before, action in walk_game(game, actions):
        if not notes.has_time():
            continue
        text = state.to_text()
        back = game.state_from_text(text)
        hold(back.to_text() == text, f"the text {text!r} is read as {back.to_text()!r}", game, before)
        _compare_read(state, back, is_history_free, before)
        for other in chooser.sample(state.legal_actions(), min(_NUM_TRIED, len(state.legal_actions()))):
            if is_history_free:
                _compare_read(_after(state, other), _after(back, other), is_history_free, [*before, other])


def _compare_read(state: State, back: State, is_history_free: bool, before: list[int]) -> None:
    """Raises Broken if a position that was read from text differs from the one that was written."""
    looks = {
        "current_player": (state.current_player(), back.current_player()),
        "planes": (state.planes().tobytes(), back.planes().tobytes()),
        "hash_key": (state.hash_key(), back.hash_key()),
    }
    if is_history_free:
        looks |= {
            "legal_actions": (state.legal_actions(), back.legal_actions()),
            "returns": (state.returns(), back.returns()),
        }
    wrong = [what for what, (one, other) in looks.items() if one != other]
    hold(not wrong, f"text_to_position does not restore {' and '.join(wrong)}", state.game, before)


def _after(state: State, action: int) -> State:
    after = state.clone()
    after.apply_action(action)
    return after


def check_pictures(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Each position has a picture in which each legal action is there once. Clicks that fit several are noted."""
    for state, before, _ in walk_game(game, actions):
        if not notes.has_time():
            continue
        position = state.record.tobytes()
        try:
            picture = _own_picture(state)
        except BadInput as error:
            hold(False, str(error), game, before)
        hold(state.record.tobytes() == position, "picture changes the state", game, before)
        if not notes.remark and (shared := shared_clicks(picture)):
            moves = " and ".join(picture.moves[action] for action in shared[0][:3])
            notes.remark = f"the same cells are several moves in some positions, e.g. {moves}"


def _own_picture(state: State) -> Picture:
    """Returns the picture that the rules make; raises BadInput if it breaks a law."""
    legal = state.legal_actions()
    with plain_python():
        picture = own_picture(state.game.rules, state.record, legal, state.history())
    check_picture(picture, legal, f"{state.game}.picture")
    return picture


Law = Callable[[Game, list[int], random.Random, Notes], None]

LAWS: dict[str, Law] = {
    "compiled": check_compiled,
    "positions": check_positions,
    "results": check_results,
    "rollouts": check_rollouts,
    "keys": check_keys,
    "symmetry tables": check_symmetry_tables,
    "symmetries": check_symmetries,
    "exchange": check_exchange,
    "places": check_places,
    "text": check_text,
    "position text": check_position_text,
    "picture": check_pictures,
}


def random_games(game: Game, num_games: int, seed: int) -> Iterator[list[int]]:
    """Yields the actions of random games in plain Python. Raises BadInput if they break the contract."""
    plain, chooser = Interpreted(game.rules, game.name), random.Random(seed)
    for _ in range(num_games):
        plain.play_at_random(chooser)
        yield list(plain.moves)


def check_laws(game: Game, num_games: int, seed: int) -> None:
    """Plays random games. Raises BadInput if one of the laws is broken."""
    chooser, notes = random.Random(seed), Notes(moves_a_game=1000 if IS_COMPILED else 100)
    for actions in random_games(game, num_games, seed):
        for law in LAWS.values():
            law(game, actions, chooser, notes)
