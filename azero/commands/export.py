"""`azero export` writes a net for other programs."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import azero
from azero.commands.options import GameOption, JsonOption, as_new_file, named_game
from azero.errors import BadInput

if TYPE_CHECKING:
    from azero.nets.export import Exported

app = typer.Typer()


@app.command(epilog="Example:  azero export connect_four connect_four.onnx")
def export(
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT", help="A checkpoint file, a run's folder or an included checkpoint, e.g. connect_four."
        ),
    ],
    file: Annotated[Path, typer.Argument(parser=as_new_file, metavar="FILE.onnx", help="The model's file.")],
    game: GameOption = None,
    precision: Annotated[str, typer.Option("--precision", help="Arithmetic of the model: fp32 or int8.")] = "fp32",
    opset: Annotated[
        int | None, typer.Option("--opset", help="Version of ONNX's operations, 19 to 24; 19 by default.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a checkpoint's net as an ONNX model.

    The model turns planes into the logits of actions, and of win, draw and loss for the player to move. Heads that the
    net keeps are further outputs. Other programs can run it without azero, e.g. with the package onnxruntime.
    """
    from azero.arena.agents.checkpoints import find_checkpoint
    from azero.arena.agents.names import parse_name
    from azero.games import make_game

    if file.suffix != ".onnx":
        raise BadInput(f"FILE {str(file)!r} should end in .onnx")
    _check_packages()
    parsed = parse_name(checkpoint)
    if not parsed.limit.is_default:
        raise BadInput(f"CHECKPOINT {checkpoint!r} should have no limit: a net alone does not search")
    if parsed.kind != "net":
        raise BadInput(f"agent {checkpoint!r} has no net; name a checkpoint file, a run's folder, or e.g. connect_four")
    path = find_checkpoint(checkpoint)

    from azero.nets.checkpoint import load_checkpoint
    from azero.nets.export import OPSETS, PRECISIONS, export_onnx

    if precision not in PRECISIONS:
        raise BadInput(f"--precision {precision!r} should be {' or '.join(PRECISIONS)}")
    if opset is not None and opset not in OPSETS:
        raise BadInput(f"--opset {opset} should be from {OPSETS[0]} to {OPSETS[-1]}")
    named = named_game(game)
    loaded = load_checkpoint(path, make_game(named) if named else None)
    done = export_onnx(loaded, file, azero.__version__, precision, opset or OPSETS[0])
    if as_json:
        print(json.dumps(done.to_json()))
        return
    size = f"{done.bytes:,} bytes"
    print(f"{done.file}: {done.game}, {done.precision}, opset {done.opset}, {size}, {done.drift:.1g} from azero's fp32")
    for name, content in _describe(done).items():
        print(f"  {name:<15} {content}")


def _describe(done: "Exported") -> dict[str, str]:
    """Returns the shapes and meanings of the model's input and outputs, by name."""
    from azero.heads import HEADS

    board = ", ".join(map(str, done.planes_shape[1:]))
    return {
        "planes": f"[batch, {done.planes_shape[0]}, {board}]",
        "policy_logits": f"[batch, {done.num_actions}]",
        "result_logits": "[batch, 3], of win, draw and loss for the player to move",
        **{name: f"[batch, {board if HEADS[name].is_per_cell else 1}], {HEADS[name].meaning}" for name in done.heads},
    }


def _check_packages() -> None:
    """Raises BadInput if the packages of the extra `onnx` are not installed."""
    missing = [each for each in ("onnx", "onnxscript") if find_spec(each) is None]
    if missing:
        raise BadInput(
            f"azero export needs the package {missing[0]}, which is not installed; install azero with its extra onnx: "
            "pip install -c constraints.txt -e '.[onnx]'"
        )
