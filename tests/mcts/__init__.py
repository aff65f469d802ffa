"""Tests of the search: the kernels against the plain-Python reference, minimax and puzzles."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.trees")
