"""Auxiliary heads: what a net can learn in addition to policy and value. A new head is a folder here.

The folder's `head.py` knows no torch: the head's name, setting, targets, graph and display. Its `layers.py` has the
layers and the loss. Heads exist in training only, unless the setting `net.heads` keeps them in the net and its
checkpoint.
"""

from importlib import import_module
from pathlib import Path

from azero.heads.contract import HEADS, Head

__all__ = ["HEADS", "Head"]

for _head in sorted(Path(__file__).parent.glob("*/head.py")):
    import_module(f"{__name__}.{_head.parent.name}.head")  # it registers itself
