"""The net's layers: a residual tower with policy and value heads, and layers that pool over the whole board."""
