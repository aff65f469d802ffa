"""Random games for the tests of records."""

import numpy as np

from azero.games import Game, make_game
from azero.records import Node, Record

GAMES = (
    *("tic_tac_toe", "connect_four", "othello(size=6)", "go(size=5,komi=0.5,superko=false)", "hex(size=4,swap=true)"),
    *("gomoku(rows=5,columns=6,k=4)", "amazons(size=6)", "breakthrough(size=5)", "clobber(rows=4,columns=5)"),
    "p_game(branching=3,depth=6)",
)
"""A small size of each game."""

IN_SGF = [name for name in GAMES if name.partition("(")[0] in ("go", "othello", "hex", "gomoku", "amazons")]

TEXTS = ["", "a remark", 'with } { \\ " ] [ : ; ( )', "two\nlines", "+0.100/5, as if", ", as if", "1-0", "ä → ○"]


def random_game(game: Game, rng: np.random.Generator) -> list[int]:
    """Returns the actions of a random game."""
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state.history()


def random_record(name: str, seed: int, whole_turns: bool = False) -> Record:
    """Returns a random game with remarks and variations.

    Args:
      whole_turns: whether remarks and variations are between turns only.
    """
    game, rng = make_game(name), np.random.default_rng(seed)
    actions = random_game(game, rng)
    record = Record.of_game(game.new_initial_state(), actions, First='a "b" \\', Second="c", Event="ä", Own="x: y")
    line, states = record.line(), list(record.states())
    record.root.comment = str(rng.choice(TEXTS[:4]))
    for ply, node in enumerate(line):
        if whole_turns and states[ply + 1].current_player() == states[ply].current_player():
            continue
        if rng.random() < 0.3:
            node.comment, node.mark = str(rng.choice(TEXTS)), str(rng.choice(["", "?", "??", "?!", "!", "!!", "!?"]))
        if rng.random() < 0.3:
            node.value, node.simulations = round(float(rng.uniform(-1, 1)), 3), int(rng.integers(1, 1000))
            node.seconds = round(float(rng.uniform(0, 9)), 3) if rng.random() < 0.5 else None
    for ply in rng.choice(len(line), 3):
        _add_variation([record.root, *line][ply], states[ply], rng, whole_turns)
    return record


def _add_variation(node: Node, state, rng: np.random.Generator, whole_turns: bool) -> None:
    """Adds a random variation of two turns or so, with one of its own."""
    if whole_turns and state.history() and len(state.history()) % 3 and "amazons" in str(state.game):
        return
    after, actions = state.clone(), list[int]()
    while not after.is_terminal() and len(actions) < 6:
        actions.append(int(rng.choice(after.legal_actions())))
        after.apply_action(actions[-1])
    if len(actions) < 6:
        return
    nodes = node.add_line(actions)
    nodes[-1].comment = "the end of a variation"
    if not whole_turns:
        nodes[0].add_line([actions[1]])
