"""All measurements of `azero bench`, as tables or as one JSON object."""

from collections.abc import Callable, Sequence
from typing import Any

from azero.bench.kernels import measure_kernels
from azero.bench.peaks import measure_peaks
from azero.config.schema import Config
from azero.games.sizes import games_of
from azero.system.machine import count_cores

SECTIONS = ("peak", "kernels", "net", "selfplay", "training")


def measure(config: Config, sections: Sequence[str], seconds: float, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measures sections; see docs/performance.md.

    Args:
      sections: some of SECTIONS.
      tell: called with the table of each section once it is measured.

    Returns:
      The object that `azero bench --json` prints: game, cores, tower (if the net is measured), and a list of rows for
      each section.
    """
    game = games_of(config.game)[-1]
    report: dict[str, Any] = {"game": str(game), "cores": count_cores()}

    def add(section: str, title: str, rows: Sequence[Any]) -> None:
        gap = "\n" if any(key in report for key in SECTIONS) else ""
        report[section] = [{key: _rounded(value) for key, value in row._asdict().items()} for row in rows]
        tell(f"{gap}{title}\n{show_table(rows)}")

    if "peak" in sections or "net" in sections:  # the net's rows have shares of the peak
        add("peak", "Peak of multiply-adds", measure_peaks(sorted({1, count_cores()}), seconds))
    if "kernels" in sections:
        add("kernels", f"Kernels, one thread: {game}", measure_kernels(game, seconds))
    if "net" in sections:
        from azero.bench.nets import describe_net, measure_nets

        report["tower"] = tower = describe_net(config, game)
        title = (
            "Net alone: {blocks} x {channels}, {operations:,} operations, {operations_on_board:,} of them on the board"
        )
        add("net", title.format(**tower), measure_nets(config, game, seconds))
    if "selfplay" in sections:
        from azero.bench.nets import runtime_of
        from azero.bench.selfplay import measure_selfplay

        net = f"{config.net.blocks} x {config.net.channels}, {runtime_of(config, game)}"
        add("selfplay", f"Self-play: {game}, {net}", measure_selfplay(config, seconds))
    if "training" in sections:
        from azero.bench.training import measure_training

        add("training", "Training", measure_training(config, game, seconds))
    return report


def show_table(rows: Sequence[Any]) -> str:
    """Returns rows of one kind as a table with the fields' names as header."""
    head = [
        name.replace("_per_s", "/s").replace("ratio_to_", "times torch ").replace("_", " ") for name in rows[0]._fields
    ]
    lines = [head, *([_cell(name, value) for name, value in row._asdict().items()] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    is_text = [any(isinstance(row[column], str) for row in rows) for column in range(len(head))]
    aligned = [
        [
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(line, widths, is_text, strict=True)
        ]
        for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def _cell(name: str, value: Any) -> str:
    """Returns a field as text. Its name says how it is formatted."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if name.startswith("share"):
        return f"{value:.1%}"
    if name.startswith("ratio"):
        return f"{value:.2f}"
    return f"{value / 1e9:,.0f} G" if name == "operations_per_s" else f"{value:,.0f}"


def _rounded(value: Any) -> Any:
    """Returns a field for JSON: whole numbers from 1000, smaller ones with four digits."""
    if not isinstance(value, float):
        return value
    return round(value) if value >= 1000 else float(f"{value:.4g}")
