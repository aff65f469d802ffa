"""Tests of games. The test of a game checks its rules by hand-drawn boards, perft counts and, last, the laws."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.openspiel", f"{__name__}.openspiel_go")
