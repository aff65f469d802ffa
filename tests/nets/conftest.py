"""Settings of every test of nets."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """Small nets are fastest on one thread; afterwards torch has again as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
