"""Area on a Go board: who holds each point, by stones and by what they alone reach."""

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.go.board import BLACK, EMPTY, WHITE


@subroutine
def _mark_reach(state, size):
    """Marks the empty points with the colours that reach them, by bits."""
    stride = size + 1
    reach, stones, empties = state.reach, state.stones, state.empties
    is_spreading = False  # to empty points from empty points beside them
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
    """Returns whose area a point is, and takes its mark away."""
    reach, stone = state.reach[point], state.stones[point]
    state.reach[point] = 0
    if stone == BLACK or reach == 1:
        return 1
    return -1 if stone == WHITE or reach == 2 else 0


@subroutine
def area_lead(state, size):
    """Returns Black's area less White's: stones, and empty points that only one colour reaches."""
    _mark_reach(state, size)
    stride, area = size + 1, 0
    for row in range(1, size + 1):
        for each in range(row * stride + 1, row * stride + 1 + size):
            area += _take_owner(state, each)
    return area


@subroutine
def write_owners(state, size, owners):
    """Writes whose area each point is, as `area_lead` counts it: 1 Black's, -1 White's, 0 neither's."""
    _mark_reach(state, size)
    for row in range(size):
        for column in range(size):
            owners[row, column] = _take_owner(state, (row + 1) * (size + 1) + column + 1)
