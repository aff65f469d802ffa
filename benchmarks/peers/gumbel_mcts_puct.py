"""gumbel-mcts's PUCT: many games in lockstep, with its tree in Numba. Users provide game and net, so these are ours.

The net is azero's tower in torch, with folded norms, in bfloat16 if the machine supports it.
"""

import argparse
import time

import numpy as np
import torch
from gumbel_mcts import PUCT
from numba import njit
from serving import serve
from torch import Tensor, nn
from torch.nn import functional as F

NUM_SIMULATIONS, BLOCKS, CHANNELS, HEAD_CHANNELS, HIDDEN = 64, 5, 64, 8, 64
HEIGHT, WIDTH = 6, 7


@njit(cache=True)
def fast_step(board, column, player):
    """Plays a move on `board`; returns reward, winner, whether the game is over, and the board."""
    row = HEIGHT - 1
    while board[row, column] != 0:
        row -= 1
    board[row, column] = player
    for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for sign in (1, -1):
            y, x = row + sign * dy, column + sign * dx
            while 0 <= y < HEIGHT and 0 <= x < WIDTH and board[y, x] == player:
                length += 1
                y, x = y + sign * dy, x + sign * dx
        if length >= 4:
            return 1.0, player, True, board
    return 0.0, 0, np.all(board[0] != 0), board


@njit(cache=True)
def get_valid_mask(board, player):
    return (board[0] == 0).astype(np.float32)


class ConnectFour:
    """The rules in the form of gumbel-mcts's `GameLogic`."""

    NUM_ACTIONS = MAX_LEGAL_MOVES = WIDTH
    BOARD_SHAPE = HEIGHT, WIDTH
    MAX_MOVES = HEIGHT * WIDTH
    PLAYER_1, PLAYER_2 = 1, 2
    fast_step = staticmethod(fast_step)
    get_valid_mask = staticmethod(get_valid_mask)


class Net(nn.Module):
    """The tower with random weights. It counts the positions that it evaluates."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, CHANNELS, 3, padding=1)
        self.layers = nn.ModuleList(nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1) for _ in range(2 * BLOCKS))
        self.policy_features = nn.Conv2d(CHANNELS, HEAD_CHANNELS, 1)
        self.policy = nn.Linear(HEAD_CHANNELS * HEIGHT * WIDTH, WIDTH)
        self.value_features = nn.Conv2d(CHANNELS, HEAD_CHANNELS, 1)
        self.value_hidden = nn.Linear(HEAD_CHANNELS * HEIGHT * WIDTH, HIDDEN)
        self.results = nn.Linear(HIDDEN, 3)
        for weights in self.parameters():
            nn.init.normal_(weights, std=weights[0].numel() ** -0.5) if weights.ndim > 1 else nn.init.zeros_(weights)
        self.dtype = torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32
        self.evaluations = 0

    @torch.inference_mode()
    def forward_for_mcts(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns policies [B, A] and values [B, 1] of "boards" [B, H * W] and "current_player" [B]."""
        boards, player = batch["boards"].view(-1, 1, HEIGHT, WIDTH), batch["current_player"].view(-1, 1, 1, 1)
        self.evaluations += len(boards)
        planes = torch.cat([boards == player, boards == 3 - player], 1)
        x = F.relu(self.stem(planes.to(self.dtype, memory_format=torch.channels_last)))
        for first, second in zip(self.layers[::2], self.layers[1::2], strict=True):
            x = F.relu(x + second(F.relu(first(x))))
        policy = self.policy(F.relu(self.policy_features(x)).flatten(1))
        hidden = F.relu(self.value_hidden(F.relu(self.value_features(x)).flatten(1)))
        win, _, loss = F.softmax(self.results(hidden).float(), 1).split(1, 1)
        return {"policy": F.softmax(policy.float(), 1), "value": win - loss}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=64, help="games in lockstep")
    size = parser.parse_args().batch

    torch.set_num_threads(1)
    net = Net().eval()
    net = net.to(net.dtype, memory_format=torch.channels_last)
    search = PUCT(size, size * (NUM_SIMULATIONS + 2), ConnectFour, device="cpu")
    boards, players = np.zeros((size, HEIGHT, WIDTH), np.int8), np.ones(size, np.int8)
    rng = np.random.default_rng()

    def measure(seconds: float) -> dict[str, float]:
        moves, net.evaluations, begin = 0, 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begin) < seconds:
            search.reset()
            search.initialize_roots(range(size), boards, players)
            search.run_simulation_batch(net, range(size), NUM_SIMULATIONS)
            for b, visits in enumerate(search.get_all_root_visits()):
                _, _, is_over, _ = fast_step(boards[b], rng.choice(WIDTH, p=visits / visits.sum()), players[b])
                players[b] = 3 - players[b]
                if is_over:
                    boards[b], players[b] = 0, 1
            moves += size
        return {"simulations": moves * NUM_SIMULATIONS / elapsed, "evaluations": net.evaluations / elapsed}

    serve(measure)


if __name__ == "__main__":
    main()
