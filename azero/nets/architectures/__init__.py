"""The nets of azero. Each architecture is a folder here; nothing else lists it.

Its `net.py` is the net in torch. Its `graph.py` is the same net as a graph of operations, for other libraries; it knows
no torch.
"""

from importlib import import_module
from pathlib import Path

for _graph in sorted(Path(__file__).parent.glob("*/graph.py")):
    import_module(f"{__name__}.{_graph.parent.name}.graph")  # it registers itself
