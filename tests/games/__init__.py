"""Tests of games. A game's test holds its rules to hand-drawn boards, to perft counts and, last, to the shared laws."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.openspiel", f"{__name__}.openspiel_go")
