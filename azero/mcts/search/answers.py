"""The boundary between a search and an evaluator from outside: its answers are checked before kernels use them."""

from typing import Any

import numpy as np

from azero.errors import BadInput
from azero.mcts.search.lockstep import Answer

_LOWEST = np.finfo(np.float32).min
_ROUNDING = 1e-5  # of values, e.g. of a difference of probabilities


def checked_answer(logits: Any, values: Any, num_rows: int, num_actions: int) -> Answer:
    """Returns an evaluator's answer as arrays of float32. A logit of -inf, for never, becomes the lowest number.

    Args:
      logits: [R, A]; arrays, torch tensors or lists.
      values: [R].

    Raises BadInput if a shape is wrong, a logit is NaN or +inf, or a value is not in [-1, 1].
    """
    logits = _array_of("logits", logits, (num_rows, num_actions), "one row per leaf, one column per action")
    values = _array_of("values", values, (num_rows,), "one per leaf")
    wrong = np.argwhere(np.isnan(logits) | (logits == np.inf))
    if len(wrong):
        row, action = wrong[0].tolist()
        found = logits[row, action]
        raise BadInput(f"the evaluator's logits[{row}, {action}] is {found}; it should be a finite number or -inf")
    bad = np.flatnonzero(~(np.abs(values) <= 1.0 + _ROUNDING))
    if len(bad):
        raise BadInput(f"the evaluator's values[{bad[0]}] is {values[bad[0]]}; it should be from -1 to 1")
    return np.maximum(logits, _LOWEST), values.clip(-1.0, 1.0)


def _array_of(name: str, given: Any, shape: tuple[int, ...], meaning: str) -> np.ndarray:
    """Returns what an evaluator gave as float32; raises BadInput if it is not an array of numbers of this shape."""
    if hasattr(given, "detach"):  # a torch tensor, which may be on a device, in bfloat16, or need a gradient
        given = given.detach().cpu().float()
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(given, np.float32)
    except (TypeError, ValueError):
        raise BadInput(f"the evaluator's {name} are not an array of numbers") from None
    if array.shape != shape:
        raise BadInput(f"the evaluator's {name} have the shape {list(array.shape)}; expected {list(shape)}, {meaning}")
    return array
