"""A search as text, one simulation at a time: what it selects, expands, evaluates and backs up, term by term."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_FORMULAS = {
    "uct": "UCT: unvisited moves first, then the greatest Q + U,  U = c sqrt(ln N(s) / N)",
    "puct": "PUCT: the greatest Q + U,  U = c(s) P sqrt(N(s)) / (1 + N)",
}
_CONSTANTS = {
    "uct": ("c",),
    "puct": ("c_puct", "c_puct_base", "c_puct_factor"),
}
_GUMBEL = (
    "Gumbel root: of the moves whose N is due, the greatest g + ln P + sigma(Q),  "
    "sigma(Q) = (c_visit + max N) c_scale (1 + Q) / 2  ({})\n"
    "The first simulation, of the root itself, is not counted."
)
_REASONS = {
    "only": "the only move",
    "unvisited": "drawn from {num_equal} unvisited moves",
    "equal": "first of {num_equal} with the greatest score",
    "greatest": "the greatest score",
}
_NONE = "-"


def heading(rule: dict[str, Any]) -> str:
    """Returns the formulas of a search and its constants."""
    names = [*_CONSTANTS[rule["name"]]]
    if rule["name"] == "puct":
        names.append("fpu_value" if rule["is_fpu_absolute"] else "fpu_reduction")
    lines = [_GUMBEL.format(_constants(rule["gumbel"], rule["gumbel"]))] if "gumbel" in rule else []
    lines.append(f"{_FORMULAS[rule['name']]}  ({_constants(rule, names)})")
    return "\n".join([*lines, "Q is for the player to move; W and values are for the first player."])


def _constants(values: dict[str, Any], names: Iterable[str]) -> str:
    return ", ".join(f"{name} = {values[name]:g}" for name in names)


def show_simulation(simulation: dict[str, Any], top: int) -> str:
    """Returns what a simulation of `azero.mcts.reference.shown` did, with the `top` best moves of each selection."""
    path = simulation["path"]
    lines = [f"simulation {simulation['number']}"]
    if "halving" in simulation:
        lines += _halving(simulation["halving"], top)
    for selection in simulation["selections"]:
        lines += _selection(selection, path, top)
    lines += [
        *_expansion(simulation["expansion"], path, top),
        _evaluation(simulation["evaluation"], path),
        *_backup(simulation["backup"], path),
    ]
    return "\n".join(lines)


def _place(path: Sequence[str]) -> str:
    return "the root" if not path else f"after {' '.join(path)}"


def _player(player: int) -> str:
    return ("first", "second")[player]


def _selection(selection: dict[str, Any], path: Sequence[str], top: int) -> Iterator[str]:
    chosen = selection["children"][selection["chosen"]]
    yield (
        f"  select    {_place(path[: selection['depth']])}, {_player(selection['to_move'])} player to move: "
        f"N(s) {selection['N']}, Q(s) {_signed(selection['Q'])}, c(s) {selection['constant']:.4f}"
    )
    columns = "N", "P", "Q", "U", "score"
    yield from _table(selection["children"], columns, chosen, top)
    yield f"            {chosen['move']}: {_REASONS[selection['reason']].format(**selection)}"


def _halving(halving: dict[str, Any], top: int) -> Iterator[str]:
    chosen = halving["children"][halving["chosen"]]
    yield (
        f"  halve     the root, {_player(halving['to_move'])} player to move: {halving['N']} visits so far, "
        f"{halving['num_considered']} moves at first; N = {halving['visits']} is due"
    )
    columns = "N", "P", "g", "logit", "Q", "sigma", "score"
    nearest = [each for each in halving["children"] if each["is_nearest"]]
    yield from _table(nearest, columns, chosen, top)
    yield f"            {chosen['move']}: the greatest score of {len(nearest)}"


def _table(children: Sequence[dict[str, Any]], columns: Sequence[str], chosen: dict[str, Any], top: int) -> list[str]:
    """Returns the `top` moves with the greatest scores, and the chosen one."""
    ranked = sorted(children, key=lambda each: (each is not chosen, -_score(each)))[:top]
    width = max(4, *(len(each["move"]) for each in ranked))
    lines = [f"            {'move':<{width}}" + "".join(f"{name:>10}" for name in columns)]
    for each in ranked:
        cells = "".join(f"{_cell(name, each):>10}" for name in columns)
        notes = f"  proven {each['proven']}" * (each["proven"] is not None) + "  left out" * each["is_left_out"]
        lines.append(f"          {'>' if each is chosen else ' '} {each['move']:<{width}}{cells}{notes}")
    if len(children) > len(ranked):
        lines.append(f"            and {len(children) - len(ranked)} more")
    return lines


def _score(child: dict[str, Any]) -> float:
    return float("inf") if child["score"] is None else float(child["score"])


def _cell(name: str, child: dict[str, Any]) -> str:
    value = child[name]
    if value is None or (name == "Q" and child["score"] is None):  # a first visit comes before all scores
        return _NONE
    return {"N": f"{value}", "P": f"{value:.4f}"}.get(name, _signed(value))


def _signed(value: float) -> str:
    return f"{value + 0.0:+.4f}".replace("-0.0000", "+0.0000")


def _expansion(expansion: dict[str, Any] | None, path: Sequence[str], top: int) -> Iterator[str]:
    if expansion is not None:
        children = sorted(expansion["children"], key=lambda each: -each["P"])
        priors = ", ".join(f"{each['move']} {each['P']:.4f}" for each in children[:top])
        more = f" and {len(children) - top} more" * (len(children) > top)
        yield f"  expand    {_place(path[: expansion['depth']])}: {len(children)} moves, P {priors}{more}"


def _evaluation(evaluation: dict[str, Any], path: Sequence[str]) -> str:
    by = {"net": "the net", "rollout": "a rollout", "over": "the game is over", "proven": "it is proven"}
    rollout = evaluation["rollout"]
    moves = f" by {' '.join(rollout)}" if rollout else ""
    return f"  evaluate  {_place(path)}: {_signed(evaluation['value'])}, {by[evaluation['kind']]}{moves}"


def _backup(nodes: Sequence[dict[str, Any]], path: Sequence[str]) -> Iterator[str]:
    for node in reversed(nodes):
        label = "  back up " if node is nodes[-1] else "          "
        N, W = node["N"], map(_signed, node["W"])
        proof = node["proven"][1]
        proven = f", proven {proof['result']:+d} in {proof['plies']}" if proof != node["proven"][0] and proof else ""
        yield (f"{label}  {_place(path[: node['depth']])}: N {N[0]} to {N[1]}, W {' to '.join(W)}{proven}")
