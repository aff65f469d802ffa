"""Tests of the curve from which levels are placed, on games of players whose Elo is known."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from azero.arena.matches.statistics import score_from_elo

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "levels.py"


def load_script():
    spec = importlib.util.spec_from_file_location("levels", SCRIPT)
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def elo_of(name: str) -> float:
    """Random has 0, the path goes from 150 to 950 in a bow, and full strength has 1000."""
    return {"random": 0.0, "full": 1000.0}[name] if name.isalpha() else 150 + 12.5 * float(name) ** 2


def games() -> list[list]:
    chain = ["random", *(f"{place:.2f}" for place in range(9)), "full"]
    return [[b, a, score_from_elo(elo_of(b) - elo_of(a))] for a, b in itertools.pairwise(chain) for _ in range(200)]


def test_the_curve_finds_the_elo_of_its_players():
    script = load_script()
    curve, full = script.curve_of(games())
    np.testing.assert_allclose(curve, 150 + 12.5 * script.KNOTS**2, atol=15)
    assert full == pytest.approx(1000, abs=15) and (np.diff(curve) >= 0).all()


def test_levels_are_equal_steps_of_elo():
    names = load_script().spread_levels(games())
    steps = np.diff([elo_of(name) for name in names])
    assert names[-1] == "full" and len(names) == 8 and steps == pytest.approx(1000 / 8, abs=15)
