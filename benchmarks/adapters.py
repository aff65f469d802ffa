"""Makes an opponent of a program that speaks no protocol that azero knows: it speaks GTP for it.

    python benchmarks/adapters.py hexhex hexhex/app/public/11_2w4_2000.onnx
    python benchmarks/adapters.py egaroucid egaroucid-light 5

`hexhex` plays the move that HexHex's net rates highest, without a search (github.com/harbecke/HexHex). `egaroucid` asks
Egaroucid light, the engine of Egaroucid for Web (github.com/Nyanyan/Egaroucid, `src/Egaroucid_light.cpp`, compiled with
the level as its first argument in place of 10, without its log). strength.toml names them as `hexhex-gtp` and
`egaroucid-gtp --level 5`: put scripts of these names on PATH that call this one.
"""

import subprocess
import sys
from collections.abc import Callable

import numpy as np

import azero
from azero.games import State

Choose = Callable[[State], str]
"""Returns a move in a position."""


def hexhex(path: str) -> tuple[str, Choose]:
    """Returns a game, and the choice of HexHex's net for it."""
    import onnxruntime

    net = onnxruntime.InferenceSession(path)
    (name,) = [each.name for each in net.get_inputs()]

    def choose(state: State) -> str:
        stones = np.zeros((2, 11, 11), np.float32)
        for ply, action in enumerate(state.history()):
            stones[ply % 2].flat[action] = 1
        if state.history():
            stones[1].flat[state.history()[0]] += 0.001  # its mark for a game in which nobody swaps any more
        board = np.zeros((2, 13, 13), np.float32)
        board[0, [0, -1], 1:-1] = board[1, 1:-1, [0, -1]] = 1
        board[:, 1:-1, 1:-1] = stones
        is_second = state.current_player() == 1
        if is_second:
            board = np.ascontiguousarray(board[::-1].transpose(0, 2, 1))
        ratings = [
            net.run(None, {name: np.ascontiguousarray(each)[None]})[0].reshape(11, 11)
            for each in (board, board[:, ::-1, ::-1])
        ]
        mean = ratings[0] + ratings[1][::-1, ::-1]
        mean = mean.T if is_second else mean
        return state.game.action_to_text(state, max(state.legal_actions(), key=mean.flatten().__getitem__))

    return "hex(size=11)", choose


def egaroucid(program: str, level: str) -> tuple[str, Choose]:
    """Returns a game, and the choice of Egaroucid light at a level."""
    engine = subprocess.Popen([program, level], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def choose(state: State) -> str:
        own, theirs = state.planes()[:2]
        cells = ["P" if mine else "O" if other else "-" for mine, other in zip(own.flat, theirs.flat, strict=True)]
        if state.legal_actions() == [state.game.num_actions - 1]:
            return "pass"
        print("".join(cells), file=engine.stdin, flush=True)
        assert engine.stdout is not None
        return engine.stdout.readline().split()[0].lower()

    return "othello(size=8)", choose


def main() -> None:
    game_name, choose = {"hexhex": hexhex, "egaroucid": egaroucid}[sys.argv[1]](*sys.argv[2:])
    game = azero.make_game(game_name)
    state = game.new_initial_state()
    known = "protocol_version", "name", "list_commands", "boardsize", "komi", "clear_board", "play", "genmove", "quit"
    for line in sys.stdin:
        command, *words = line.split() or [""]
        answer = {"protocol_version": "2", "name": sys.argv[1], "list_commands": "\n".join(known)}.get(command, "")
        if command == "clear_board":
            state = game.new_initial_state()
        elif command == "play":
            state.apply_action(game.text_to_action(state, words[1].lower()))
        elif command == "genmove":
            answer = choose(state)
            state.apply_action(game.text_to_action(state, answer))
        print(f"{'=' if command in known else '?'} {answer}\n", flush=True)
        if command == "quit":
            break


if __name__ == "__main__":
    main()
