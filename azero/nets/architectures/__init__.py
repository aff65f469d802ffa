"""The layers: a residual tower with policy and value heads, and what gives its blocks the whole board."""
