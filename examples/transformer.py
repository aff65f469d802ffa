"""A net of one's own: a small transformer, in which each cell of the board is a token.

azero check-net examples/transformer.py:Transformer --game tic_tac_toe
azero train tic_tac_toe --set "net.name=examples/transformer.py:Transformer(width=48)" --run runs/transformer
"""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Attention between the cells, and a layer for each cell, both with skip connections."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm_of_attention, self.norm_of_cells = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.cells = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):  # [B, cells, width] to the same shape
        rows, cells, width = x.shape
        parts = self.queries_keys_values(self.norm_of_attention(x))
        queries, keys, values = parts.view(rows, cells, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(queries, keys, values)  # [B, heads, cells, width / heads]
        x = x + self.mix(seen.transpose(1, 2).reshape(rows, cells, width))
        return x + self.cells(self.norm_of_cells(x))


class Transformer(nn.Module):
    """Turns planes, [B, C, H, W], into the logits of actions, [B, A], and of win, draw and loss, [B, 3]."""

    def __init__(self, game, width: int = 32, blocks: int = 2, heads: int = 4):
        super().__init__()
        planes, self.height, self.width = game.planes_shape
        self.embed = nn.Linear(planes, width)
        self.places = nn.Parameter(torch.randn(self.height * self.width, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.policy = nn.Linear(self.height * self.width * width, game.num_actions)
        self.results = nn.Linear(width, 3)
        for last in (self.policy, self.results):  # a new net should have a uniform policy and the value 0
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def features(self, planes):  # [B, width, H, W]
        cells = self.embed(planes.flatten(2).transpose(1, 2)) + self.places
        return self.norm(self.blocks(cells)).transpose(1, 2).unflatten(2, (self.height, self.width))

    def judge(self, features):
        return self.policy(features.flatten(1)), self.results(features.mean((2, 3)))

    def forward(self, planes):
        return self.judge(self.features(planes))
