"""Area scoring in Go: the owner of each point, from the stones and the empty points that only one colour reaches."""

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.go.board import BLACK, EMPTY, WHITE


@subroutine
def _mark_reach(state, size):
    """Sets bit c of `reach` for each empty point that colour c reaches."""
    stride = size + 1
    reach, stones, empties = state.reach, state.stones, state.empties
    is_spreading = False  # between neighbouring empty points
    for k in range(state.num_empties):
        point = np.int64(empties[k])
        for neighbour in (point - stride, point - 1, point + 1, point + stride):
            if stones[neighbour] < EMPTY:
                reach[point] |= 1 << stones[neighbour]
            is_spreading |= stones[neighbour] == EMPTY
    while is_spreading:
        is_spreading = False
        for k in range(state.num_empties):
            point = np.int64(empties[k])
            both = reach[point - stride] | reach[point - 1] | reach[point + 1] | reach[point + stride] | reach[point]
            is_spreading |= both != reach[point]
            reach[point] = both


@subroutine
def _take_owner(state, point):
    """Returns the owner of a point, 1 Black, -1 White, 0 neither, and clears its mark."""
    reach, stone = state.reach[point], state.stones[point]
    state.reach[point] = 0
    if stone == BLACK or reach == 1:
        return 1
    return -1 if stone == WHITE or reach == 2 else 0


@subroutine
def area_lead(state, size):
    """Returns Black's area minus White's. An area is stones, and the empty points that only their colour reaches."""
    _mark_reach(state, size)
    stride, area = size + 1, 0
    for row in range(1, size + 1):
        for each in range(row * stride + 1, row * stride + 1 + size):
            area += _take_owner(state, each)
    return area


@subroutine
def write_owners(state, size, owners):
    """Writes the owner of each point into `owners` ([H, W] int8), as in `area_lead`: 1 Black, -1 White, 0 neither."""
    _mark_reach(state, size)
    for row in range(size):
        for column in range(size):
            owners[row, column] = _take_owner(state, (row + 1) * (size + 1) + column + 1)
