"""Tests of matches: agents and their names, openings, other engines, and what results say."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.agents")
