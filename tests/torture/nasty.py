"""Hostile values, texts and files, drawn at random. All are plain data, so that a corpus can keep them."""

import json
import random
from typing import Any

import numpy as np

from azero.system.tensor_files import Tensors, digest_of

TEXTS = [
    "", " ", "\0", "a\0b", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\r\n", "\n" * 5, "\ud800", "a\udfffb",
    "\u202e", "\ufeff", "..", "../..", "/", "/dev/zero", "/proc/self/mem", "C:\\", "~", "nan", "-nan", "inf",
    "1e999", "-0", "0x10", "1_000", "٣", "9" * 400, "9" * 5000, "a" * 3000, "(" * 900, "[" * 3000, "{" * 900, "=" *
    50, "@", "@@", "@s", "@1e9s", "@-1", ":", ".py:X", "os.py:path", "json/__init__.py:loads", "x.py:Y(z=1)",
    "none.safetensors", "%s%n", "${HOME}", "$(touch ran)", "`touch ran`", "; touch ran", "--help", "-1", "é",
    "e\u0301", "\U0001f600", "null", "true", "[]", "{}", "''", '""', "\"", "'", "\\", "#",
]  # fmt: skip

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 2**64, 10**30, 10**400, 0.0, -0.0, 1e-320, 1e308, -1e308,
    float("nan"), float("inf"), float("-inf"), [], {}, [[]], [None], {"a": None}, {"": ""}, ["x"] * 50, "play",
    "train", "gate",
]  # fmt: skip

WORDS = [*"(),=@:.s019-e[]", "\n", "\0", "\x1b", "\ud800", '"', "'", "\\", "#"]


def nested(depth: int, kind: str = "[") -> Any:
    """Returns lists or objects in each other."""
    value: Any = 0
    for _ in range(depth):
        value = [value] if kind == "[" else {"a": value}
    return value


def value(draw: random.Random) -> Any:
    """Returns a hostile value of JSON."""
    choice = draw.random()
    if choice < 0.5:
        return draw.choice(VALUES)
    if choice < 0.6:
        return draw.randint(-(10 ** draw.randrange(1, 20)), 10 ** draw.randrange(1, 20))
    if choice < 0.65:
        return draw.uniform(-2, 2) * 10.0 ** draw.randrange(-10, 10)
    if choice < 0.68:
        return nested(draw.choice((3, 90, 300)), draw.choice("[{"))
    return text(draw, "play")


def text(draw: random.Random, valid: str) -> str:
    """Returns a hostile text, or a valid one with some changes."""
    if draw.random() < 0.3:
        return draw.choice(TEXTS)
    letters = list(valid)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        place, word = draw.randrange(len(letters) + 1), draw.choice(WORDS + TEXTS + list(valid))
        change = draw.randrange(4)
        if change == 0:
            letters.insert(place, word)
        elif change == 1:
            letters[place : place + draw.randrange(1, 6)] = []
        elif change == 2:
            letters[place : place + 1] = word
        else:
            letters[place:place] = letters[draw.randrange(len(letters) + 1) :][: draw.randrange(1, 20)]
    return "".join(letters)


Change = list[Any]


def changes(draw: random.Random, card: dict, tensors: Tensors) -> list[Change]:
    """Returns changes of a signed file: `["card", keys, value]`, `["tensor", name, how, seed]`."""
    found: list[Change] = []
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        if draw.random() < 0.5 or not tensors:
            found.append(["card", _keys(draw, card), value(draw)])
        else:
            how = draw.choice(("gone", "new", "dtype", "shape", "cell", "cell", "cell", "all", "empty"))
            found.append(["tensor", draw.choice(sorted(tensors)), how, draw.getrandbits(32)])
    return found


def _keys(draw: random.Random, card: dict) -> list[str]:
    key = draw.choice([*sorted(card), "new", "format", text(draw, "game")])
    inner = card.get(key)
    return [key, draw.choice(sorted(inner))] if isinstance(inner, dict) and inner and draw.random() < 0.8 else [key]


def apply_changes(card: dict, tensors: Tensors, wanted: list[Change]) -> tuple[dict, Tensors]:
    """Returns card and tensors after the changes, with the digest that they should have."""
    card, tensors = json.loads(json.dumps(card)), dict(tensors)
    for kind, where, *what in wanted:
        if kind == "card":
            place = card
            for key in where[:-1]:
                place = place.setdefault(key, {}) if isinstance(place.get(key, {}), dict) else place
            place[where[-1]] = what[0]
        elif where in tensors:
            _change_tensor(tensors, where, *what)
    card.pop("digest", None)
    return {**card, "digest": digest_of(tensors, card)}, tensors


def _change_tensor(tensors: Tensors, name: str, how: str, seed: int) -> None:
    rng, array = np.random.default_rng(seed), tensors[name]
    if how == "gone":
        del tensors[name]
    elif how == "new":
        tensors[f"{name}2"] = array
    elif how == "dtype":
        kinds = ["int8", "int32", "int64", "uint8", "float16", "float32", "float64", "bool"]
        with np.errstate(all="ignore"):
            tensors[name] = array.astype(rng.choice(kinds))
    elif how == "shape":
        tensors[name] = array.reshape(-1)[: rng.integers(0, array.size + 1)] if array.size else array
    elif how == "empty":
        tensors[name] = array[:0] if array.ndim else array
    elif array.size:
        changed = np.array(array)
        flat, size = changed.reshape(-1).view(np.uint8).reshape(array.size, -1), array.size
        cells = slice(None) if how == "all" else rng.integers(0, size, min(size, 3))
        if rng.random() < 0.5:
            flat[cells] = rng.integers(0, 256, flat[cells].shape)
        else:
            changed.reshape(-1)[cells] = _extreme(rng, array.dtype)
        tensors[name] = changed


def _extreme(rng: np.random.Generator, dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return rng.choice([np.nan, np.inf, -np.inf, 0.0, float(np.finfo(dtype).max)]).astype(dtype)
    if dtype.kind == "b":
        return bool(rng.integers(2))
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, info.max, 0, 1, info.max // 2], dtype))
