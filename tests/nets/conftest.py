"""Settings of all tests of nets."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """Small nets are fastest on one thread. The number of torch's threads is restored afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
