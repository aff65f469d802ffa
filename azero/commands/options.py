"""Options that several commands have."""

from typing import Annotated

import typer

AGENT_HELP = (
    "A checkpoint's path, a run's folder or a shipped name, uct (with options, e.g. 'uct(c=2,table=64MiB)'), mc, mmmc, "
    "alphabeta, random or gtp:COMMAND; @800 or @2s limits it."
)
GameOption = Annotated[
    str | None, typer.Option("--game", help="The game, where no checkpoint tells it; see `azero games`.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of every random choice.")]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Threads; all cores unless given.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DeviceOption = Annotated[str, typer.Option("--device", help="Where nets run: auto, cpu, cuda or mps.")]
PrecisionOption = Annotated[str, typer.Option("--precision", help="Arithmetic of nets: auto, fp32, bf16 or int8.")]
RuntimeOption = Annotated[str, typer.Option("--runtime", help="What runs nets: auto, torch or openvino.")]
NodesOption = Annotated[
    int | None, typer.Option("--max-nodes", help="Limit on a search tree, at which it grows no more.")
]
