"""Settings that no longer exist: the one list of them, and how files of earlier versions are read.

At its old default, a deleted setting is dropped in silence. At another value it is dropped, too, and a line says so.
docs/learning.md has the measurements.
"""

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.system.formats import warn_once


class Deleted(NamedTuple):
    """A setting that no longer exists."""

    default: object  # with it, the method was off, or did what azero does now
    why: str


_NO_GAIN, _ALWAYS = "it showed no gain (docs/learning.md)", "it is always true (docs/learning.md)"
_LAMBDA = "the value target is that of training.value_lambda now (docs/learning.md)"
_WIN_RATE = "the gate decides by gate.win_rate_threshold (docs/learning.md)"

DELETED = {
    "selfplay.resign_error": Deleted(0.0, _NO_GAIN),
    "selfplay.resign_played_on_share": Deleted(0.1, _NO_GAIN),
    "selfplay.forced_playouts": Deleted(0.0, _NO_GAIN),
    "selfplay.keep_tree": Deleted(True, _ALWAYS),
    "selfplay.random_symmetry": Deleted(True, _ALWAYS),
    "replay.reanalysed_share": Deleted(0.0, _NO_GAIN),
    "training.reply_loss_weight": Deleted(0.0, _NO_GAIN),
    "training.plies_left_loss_weight": Deleted(0.0, _NO_GAIN),
    "training.short_term_loss_weight": Deleted(0.0, _NO_GAIN),
    "training.root_value_weight": Deleted(0.0, _LAMBDA),
    "training.learn_proven": Deleted(False, _NO_GAIN),
    "gate.method": Deleted("win_rate", _WIN_RATE),
    "gate.elo0": Deleted(0.0, _WIN_RATE),
    "gate.elo1": Deleted(50.0, _WIN_RATE),
}
"""The deleted settings by name."""

DELETED_VALUES = {"net.global_context": "se_bias"}
"""Deleted values of settings that still exist. A net with such a value cannot be made any more."""

DELETED_HEADS = tuple(
    name.removeprefix("training.").removesuffix("_loss_weight") for name in DELETED if name.endswith("_loss_weight")
)
"""Auxiliary heads that no longer exist. Their tensors in a run's state begin with `heads.NAME.`."""


def drop_deleted(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings, nested by section, without deleted ones; prints a line for each that was not at its default."""
    kept = dict(tables)
    for name, (default, why) in DELETED.items():
        section, _, key = name.partition(".")
        if isinstance(kept.get(section), dict) and key in kept[section]:
            kept[section] = dict(kept[section])
            value = kept[section].pop(key)
            if value != default:
                warn_once(f"setting {name} = {short(value)} no longer exists and is ignored: {why}")
    return kept


def find_deleted_value(tables: Mapping[str, Any]) -> str:
    """Returns a setting, nested by section, whose value no longer exists, as `name = value`; empty if there is none."""
    for name, value in DELETED_VALUES.items():
        section, _, key = name.partition(".")
        if isinstance(tables.get(section), dict) and tables[section].get(key) == value:
            return f"{name} = {value!r}"
    return ""


def check_run_can_continue(what: str, tables: Mapping[str, Any]) -> None:
    """Raises BadInput if a run has settings, nested by section, whose net can no longer be made.

    Args:
      what: names the file with the settings.
    """
    if found := find_deleted_value(tables):
        raise BadInput(
            f"{what} has {found}, which no longer exists (docs/learning.md), so the run cannot continue; begin "
            "another, which can learn from its games with --games-of"
        )
