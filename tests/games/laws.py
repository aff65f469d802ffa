"""The laws that every game keeps, held over random games: each game's test ends in `check_laws`."""

import random

import numpy as np

from azero.games import DRAW, LOSS, ONGOING, WIN, Game, State, new_states


def check_laws(game: Game, num_games: int, seed: int) -> None:
    """Plays random games and asserts at every position what `azero.games.contract` promises of rules."""
    chooser = random.Random(seed)
    keys: dict[tuple, int] = {}
    check_symmetry_tables(game)
    for _ in range(num_games):
        actions = play_at_random(game, chooser)
        check_positions(game, actions)
        check_plain_python(game, actions)
        check_text(game, actions)
        check_symmetries(game, actions)
        note_keys(game, actions, keys)
        note_keys(game, swap_two_moves(actions, chooser), keys)
    assert len(set(keys.values())) == len(keys), "two positions share a hash key"


def play_at_random(game: Game, chooser: random.Random) -> list[int]:
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(chooser.choice(state.legal_actions()))
        assert len(state.history()) <= game.max_plies
    return state.history()


def check_positions(game: Game, actions: list[int]) -> None:
    """Legal actions, ends and returns; a clone is equal and goes its own way."""
    state = game.new_initial_state()
    for action in actions:
        legal = state.legal_actions()
        assert legal == sorted(set(legal)) and legal[0] >= 0 and legal[-1] < game.num_actions
        assert not state.is_terminal() and state.current_player() in (0, 1) and state.returns() == [0, 0]
        before, clone = facts(state), state.clone()
        assert facts(clone) == before
        clone.apply_action(action)
        assert facts(state) == before != facts(clone)
        state.apply_action(action)
        assert facts(state) == facts(clone)
    assert state.is_terminal() and state.legal_actions() == [] and state.current_player() == -4
    assert sum(state.returns()) == 0 and state.returns()[0] in (WIN, DRAW, LOSS)


def facts(state: State) -> tuple:
    """Returns all that can be seen of a position and its past."""
    seen = state.legal_actions(), state.current_player(), state.returns(), state.history(), state.hash_key(), str(state)
    return *seen, state.planes().tobytes(), state.record.tobytes()


def check_plain_python(game: Game, actions: list[int]) -> None:
    """The methods as ordinary Python do to a record what they do compiled, write every plane, and reset it whole."""
    rules, state, record = game.rules, game.new_initial_state(), new_states(game.rules, 1)[0]
    legal = np.empty(game.num_actions, np.int32)
    with np.errstate(over="ignore"):  # hashes wrap around
        rules.reset(record)
        for action in [*actions, None]:
            planes = np.full(game.planes_shape, np.nan, np.float32)
            rules.encode(record, planes)
            assert np.array_equal(planes, state.planes())
            assert record.tobytes() == state.record.tobytes()
            assert int(rules.hash_key(record)) == state.hash_key()
            assert (rules.outcome(record) == ONGOING) == (not state.is_terminal())
            if action is None:
                break
            assert rules.current_player(record) == state.current_player()
            assert legal[: rules.legal_actions(record, legal)].tolist() == state.legal_actions()
            rules.apply_action(record, action)
            state.apply_action(action)
        assert rules.outcome(record) == state.returns()[0]
        rules.reset(record)
    assert record.tobytes() == game.new_initial_state().record.tobytes()


def check_text(game: Game, actions: list[int]) -> None:
    """Each legal action has a text of its own that leads back to it, and a game's moves can be split and replayed."""
    state, texts = game.new_initial_state(), []
    for action in actions:
        legal = state.legal_actions()
        assert [game.text_to_action(state, game.action_to_text(state, each)) for each in legal] == legal
        texts.append(game.action_to_text(state, action))
        state.apply_action(action)
    for separator in (" ", ", ", "; ", "\n"):
        assert game.rules.split_moves(separator.join(texts)) == texts
    assert facts(game.state_from_moves(" ".join(texts))) == facts(state)


def check_symmetry_tables(game: Game) -> None:
    """The symmetries are permutations, the identity first, and a group: one after another is again one of them."""
    cells, actions = game.symmetries
    _, height, width = game.planes_shape
    assert cells.dtype == actions.dtype == np.int32 and len(cells) == len(actions)
    assert np.array_equal(cells[0], np.arange(height * width)) and np.array_equal(
        actions[0], np.arange(game.num_actions)
    )
    assert (np.sort(cells) == cells[0]).all() and (np.sort(actions) == actions[0]).all()
    known = {one.tobytes() + other.tobytes() for one, other in zip(cells, actions, strict=True)}
    assert len(known) == len(cells), "a symmetry stands twice"
    for s in range(len(cells)):
        for t in range(len(cells)):
            assert cells[s][cells[t]].tobytes() + actions[s][actions[t]].tobytes() in known


def check_symmetries(game: Game, actions: list[int]) -> None:
    """The game seen through a symmetry is a game: planes, legal actions and the result map onto each other."""
    for cells, gather in zip(*game.symmetries, strict=True):
        state, seen = game.new_initial_state(), game.new_initial_state()
        for action in [*actions, None]:
            planes = state.planes().reshape(game.planes_shape[0], -1)
            assert np.array_equal(planes[:, cells], seen.planes().reshape(planes.shape))
            assert np.array_equal(legal_mask(state)[gather], legal_mask(seen))
            assert (state.current_player(), state.returns()) == (seen.current_player(), seen.returns())
            if action is not None:
                state.apply_action(action)
                seen.apply_action(int(np.flatnonzero(gather == action)[0]))


def legal_mask(state: State) -> np.ndarray:
    mask = np.zeros(state.game.num_actions, bool)
    mask[state.legal_actions()] = True
    return mask


def swap_two_moves(actions: list[int], chooser: random.Random) -> list[int]:
    """Returns the same game with two moves, two plies apart, in the other order: often a transposition."""
    if len(actions) < 3:
        return actions
    i = chooser.randrange(len(actions) - 2)
    return [*actions[:i], actions[i + 2], actions[i + 1], actions[i], *actions[i + 3 :]]


def note_keys(game: Game, actions: list[int], keys: dict[tuple, int]) -> None:
    """Asserts that positions met before, by whatever moves, have the key they had; plays as far as it is legal."""
    state = game.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            break
        state.apply_action(action)
        position = state.planes().tobytes(), state.current_player()
        assert keys.setdefault(position, state.hash_key()) == state.hash_key()
