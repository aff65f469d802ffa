"""Tests of training: steps against values by hand, and killed runs against unbroken ones."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.runs")
