"""Tests of the arena: agents and their names, openings, matches, GTP engines, benchmarks and statistics."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.agents")
