"""A user's own game in node: overlapping slices, and rules that raise an error."""

import pytest

import azero
from azero.errors import BadInput
from azero.publishing.build import build, build_all
from tests.publishing.published import ask, described, needs_node, random_games, write

RULES = '''
from typing import NamedTuple
import numpy as np

class Push(NamedTuple):
    """Stones are pushed in at an end of a line. Three of a kind side by side win."""

    breaks_at: int = 14

    def reset(game, state):
        for k in range(9):
            state.line[k] = 0
        state.ply = 0
        state.lefts = 0

    def legal_actions(game, state, out):
        out[0] = 0
        out[1] = 1
        return 2

    def apply_action(game, state, action):
        if state.lefts == game.breaks_at:  # which random games do not reach
            raise ValueError("the line is broken")
        mine = 1 + (state.ply & 1)
        if action == 0:
            state.line[1:] = state.line[:-1]
            state.line[0] = mine
            state.lefts += state.lefts == state.ply
        else:
            state.line[:-1] = state.line[1:]
            state.line[8] = mine
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        for k in range(7):
            a = state.line[k]
            if a != 0 and a == state.line[k + 1] and a == state.line[k + 2]:
                return 1 if a == 1 else -1
        return 0 if state.ply == 30 else 2

    def encode(game, state, planes):
        for k in range(9):
            planes[0, 0, k] = state.line[k] == 1 + (state.ply & 1)
            planes[1, 0, k] = state.line[k] == 2 - (state.ply & 1)

    def hash_key(game, state):
        key = np.uint64(state.ply)
        for k in range(9):
            key = key * np.uint64(1000003) + np.uint64(state.line[k])
        return key

    @property
    def state_dtype(game):
        return np.dtype([("line", np.int8, (9,)), ("ply", np.int32), ("lefts", np.int32)], align=True)

    num_actions = 2
    max_plies = 30
    planes_shape = 2, 1, 9
'''


@needs_node
@pytest.mark.long
def test_a_game_of_one_s_own_plays_and_names_its_errors(tmp_path):
    file = tmp_path / "push.py"
    file.write_text(RULES)
    game = azero.make_game(f"{file}:Push")
    published, other = build_all(["uct@100", "uct(c=2)@50"], game)
    assert published.wasm is other.wasm and published.manifest["settings"] != other.manifest["settings"]
    stem = write(published, tmp_path / "push")
    games = random_games(game, 20)
    for actions, answer in zip(games, ask(stem, [{"ask": "game", "actions": each} for each in games]), strict=True):
        state = game.new_initial_state()
        for ply, action in enumerate(actions, 1):
            state.apply_action(action)
            assert answer[ply] == described(state)
    broken = [0] * 15
    asked = [{"ask": "fails", "actions": each} for each in (broken, [7])]
    failed, illegal = ask(stem, asked)
    assert failed == {"message": "the line is broken", "kind": "ValueError", "history": broken, "path": []}
    assert illegal["message"] == "action 7 is not legal here; legal actions: 0, 1"
    (in_tree,) = ask(stem, [{"ask": "fails", "actions": [0] * 12, "simulations": 500}])
    assert in_tree["history"] == [0] * 12 and in_tree["path"] == [0, 0, 0]
    asked = [{"ask": "fails", "actions": [0] * 10, "simulations": 4, "seed": seed} for seed in range(20)]
    in_rollouts = [each["path"] for each in ask(stem, asked) if each]  # too deep for a tree of four simulations
    assert in_rollouts and all(each[:4] == [0] * 4 and len(each) == 5 for each in in_rollouts)


@pytest.mark.parametrize("name", ["mc@100", "random", "uct(table=1MiB)@100", "connect_four(level=3)", "alphabeta@100"])
def test_agents_that_a_page_cannot_hold(name):
    with pytest.raises(BadInput, match="a page can hold|the page has all levels"):
        build(name, "tic_tac_toe" if not name.startswith("connect") else None)
