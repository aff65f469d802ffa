"""Small integers that overflow in NumPy and not in compiled rules: the lines, and what to write instead."""

import ast
import linecache
import re
import sys
from types import CodeType, FrameType

import numpy as np

_PURE = ast.Name | ast.Attribute | ast.Subscript | ast.Slice | ast.Constant | ast.BinOp | ast.UnaryOp | ast.Tuple
_PURE |= ast.operator | ast.unaryop | ast.expr_context
"""Expressions without side effects, which can be evaluated again. NumPy's `np.int8(...)` is another."""


class Overflows:
    """The callback for overflows in NumPy. It notes the lines where integers of less than 64 bits overflow.

    Integers of 64 bits wrap around in compiled rules too, and hashes rely on it.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[CodeType, int]] = set()
        self._found: list[str] = []

    def __call__(self, kind: str, flag: int) -> None:
        """Notes an overflow in the calling frame if it has less than 64 bits."""
        frame = sys._getframe(1)
        place = frame.f_code, frame.f_lasti
        if place not in self._seen:
            self._seen.add(place)
            if found := _small_overflow(frame):
                self._found.append(found)

    def note(self) -> str:
        """Returns a description of the first overflow, to append to a message. Empty if there was none."""
        return f"; {self._found[0]}" if self._found else ""


def _small_overflow(frame: FrameType) -> str | None:
    """Returns a description of an overflow of less than 64 bits and its remedy. Returns None for other overflows."""
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
    """Returns the value of an operand in a frame. Returns None if evaluating it might have side effects."""
    if not all(isinstance(each, _PURE) or _is_conversion(each) for each in ast.walk(operand)):
        return None
    try:
        with np.errstate(over="ignore"):
            return eval(ast.unparse(operand), frame.f_globals, frame.f_locals)
    except Exception:  # the file may have changed
        return None


def _is_conversion(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and re.fullmatch(r"np\.u?int\d+", ast.unparse(node.func)) is not None
