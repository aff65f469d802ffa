"""Integers that plain Python and NumPy take otherwise than the compiler: overflows by line, and what to write."""

import ast
import linecache
import re
import sys
from types import CodeType, FrameType

import numpy as np

_ADVICE = (
    (r"Python integer -\d+ out of bounds for uint", "unsigned integers are never negative: np.int64(...) around them"),
    (r"Python integer \d+ out of bounds for u?int(8|16|32)", "write np.int64(...) around the small integer"),
    (
        r"(out of bounds for u?int64|int too (big|large) to convert)",
        "write np.uint64(...) around what is 2**63 or more",
    ),
    (r"ufunc '\w+' not supported for the input types", "beside np.uint64 write np.uint64(...) around signed integers"),
    (
        r"numpy\.float64|only integers",
        "a float comes of /, and of np.uint64 with a signed integer: write //, or np.uint64(...)",
    ),
)
"""What NumPy's errors say of integers, as a pattern, and what to write instead."""

_PURE = ast.Name | ast.Attribute | ast.Subscript | ast.Slice | ast.Constant | ast.BinOp | ast.UnaryOp | ast.Tuple
_PURE |= ast.operator | ast.unaryop | ast.expr_context
"""What may be computed once more without a change to anything; so may NumPy's own `np.int8(...)`."""


class Overflows:
    """What NumPy calls where an integer overflows; it notes the lines where the integer has less than 64 bits.

    Integers of 64 bits wrap around when compiled, too: hashes live on it.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[CodeType, int]] = set()
        self._found: list[str] = []

    def __call__(self, kind: str, flag: int) -> None:
        """Notes the overflow that is happening in the calling frame, if it is of a small integer."""
        frame = sys._getframe(1)
        place = frame.f_code, frame.f_lasti
        if place not in self._seen:
            self._seen.add(place)
            if found := _small_overflow(frame):
                self._found.append(found)

    def note(self) -> str:
        """Returns what has overflown first, as a part of a sentence; nothing where nothing has."""
        return f"; {self._found[0]}" if self._found else ""


def advice_on(error: object) -> str:
    """Returns what to write instead of what NumPy says of integers in an error, as a sentence's end; else nothing."""
    return next((f"; {advice}" for said, advice in _ADVICE if re.search(said, str(error))), "")


def _small_overflow(frame: FrameType) -> str | None:
    """Returns what an overflow of less than 64 bits is and how it is mended, or None where it is none."""
    line, end_line, column, end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return None
    lines = [each.encode() for each in linecache.getlines(frame.f_code.co_filename)[line - 1 : end_line]]
    if not lines:
        return None
    lines[-1] = lines[-1][:end_column]
    text = b" ".join(each.strip() for each in [lines[0][column:], *lines[1:]]).decode()
    operands = _operands(text)
    values = [_value(operand, frame) for operand in operands]
    if not all(isinstance(value, int) or _is_small(value) for value in values):
        return None
    small = [ast.unparse(operand) for operand, value in zip(operands, values, strict=True) if _is_small(value)]
    if not small:
        return None
    kind = np.result_type(*(value.dtype for value in values if isinstance(value, np.integer)))
    return (
        f"line {line} overflows in plain Python, where {text} is of {kind}; compiled, it has 64 bits: "
        f"write np.int64({min(small, key=len)})"
    )


def _is_small(value: object) -> bool:
    return isinstance(value, np.integer) and value.itemsize < 8


def _operands(text: str) -> list[ast.expr]:
    """Returns the operands of an operation, e.g. of `3 * key` or `key *= 3`."""
    try:
        [statement] = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    node = statement.value if isinstance(statement, ast.Expr) else statement
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return node.args if isinstance(node, ast.Call) else []


def _value(operand: ast.expr, frame: FrameType) -> object:
    """Returns the value that an operand has in a frame, or None where computing it might change something."""
    if not all(isinstance(each, _PURE) or _is_conversion(each) for each in ast.walk(operand)):
        return None
    try:
        with np.errstate(over="ignore"):
            return eval(ast.unparse(operand), frame.f_globals, frame.f_locals)
    except Exception:  # the file is another by now
        return None


def _is_conversion(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and re.fullmatch(r"np\.u?int\d+", ast.unparse(node.func)) is not None
