"""Tests of training: steps by hand-computed values, and runs that are killed and end as unbroken ones."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.runs")
