"""Tables of pictures, without a browser. `tests/browser/test_publish.py` compares those of whole games."""

import numpy as np

from azero.publishing.tables.pictures import draw


def test_a_plane_that_is_nowhere_0_but_varies_is_drawn_as_by_the_page():
    still = {"cells": ["a", "b"], "steps": [""], "drops": None}
    tables = {"still": still, "pieces": None, "cells": [[[0]], [[0]]], "buttons": {}}
    planes = np.array([1, 1, 0.5, 2], np.float32)  # the first plane is the same everywhere
    drawn = draw(tables, planes, player=0, legal=[0], run=[])
    assert [(each["cell"], each["text"]) for each in drawn["pieces"]] == [(0, "2"), (1, "2")]
