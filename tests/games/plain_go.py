"""A slow, plain implementation of Go with sets of points, with which the compiled rules are compared."""

from azero.games.go.rules import Go

Board = dict[int, int]
"""The colour, 0 or 1, of each point that has a stone."""

STRAIGHT = [(-1, 0), (0, -1), (0, 1), (1, 0)]
DIAGONAL = [(-1, -1), (-1, 1), (1, -1), (1, 1)]


class PlainGo:
    """A game of Go up to some position. All methods refer to its last board."""

    def __init__(self, rules: Go):
        self.rules = rules
        self.pass_action = rules.size**2
        self.boards: list[Board] = [{}]
        self.moves: list[int] = []

    @property
    def board(self) -> Board:
        return self.boards[-1]

    @property
    def player(self) -> int:
        return len(self.moves) % 2

    def is_over(self) -> bool:
        limit = self.rules.max_game_length or 3 * self.rules.size**2
        return len(self.moves) == limit or self.moves[-2:] == [self.pass_action] * 2

    def legal_actions(self) -> list[int]:
        return [*filter(self.is_legal, self.empty_points()), self.pass_action]

    def rollout_actions(self) -> list[int]:
        """Returns the actions of random games by their specification: simple ko, no suicide, no eye filled."""
        points = [point for point in self.empty_points() if not self.is_eye(point)]
        after = {point: self.put(point) for point in points}
        return [each for each in points if each in after[each] and not self.is_ko(each, after[each])] or [
            self.pass_action
        ]

    def play(self, action: int) -> None:
        self.boards.append(self.board if action == self.pass_action else self.put(action))
        self.moves.append(action)

    def area_lead(self) -> int:
        """Returns Black's area minus White's."""
        lead = sum(1 - 2 * colour for colour in self.board.values())
        left = set(self.empty_points())
        while left:
            region, border = self.region(self.board, left.pop())
            left -= region
            colours = {self.board[each] for each in border}
            lead += len(region) * ((colours == {0}) - (colours == {1}))
        return lead

    def empty_points(self) -> list[int]:
        return [point for point in range(self.pass_action) if point not in self.board]

    def is_legal(self, point: int) -> bool:
        after = self.put(point)
        if point not in after and not self.rules.suicide:
            return False
        return after not in self.boards if self.rules.superko else not self.is_ko(point, after)

    def is_ko(self, point: int, after: Board) -> bool:
        """Returns whether a stone on `point` only retakes the stone that has just taken a single stone there."""
        if not self.moves:
            return False
        taken, retaken = self.boards[-2].keys() - self.board.keys(), self.board.keys() - after.keys()
        return taken == {point} and retaken == {self.moves[-1]}

    def is_eye(self, point: int) -> bool:
        neighbours = {self.board.get(each) for each in self.around(point, STRAIGHT)}
        diagonals = self.around(point, DIAGONAL)
        num_enemies = sum(self.board.get(each) == 1 - self.player for each in diagonals)
        return neighbours == {self.player} and num_enemies <= (1 if len(diagonals) == 4 else 0)

    def put(self, point: int) -> Board:
        """Returns the board after the player's stone on `point`. Enemy chains without liberties are removed first."""
        board = self.board | {point: self.player}
        for neighbour in self.around(point, STRAIGHT):
            if board.get(neighbour) == 1 - self.player:
                board = self.without_airless(board, neighbour)
        return self.without_airless(board, point)

    def without_airless(self, board: Board, point: int) -> Board:
        """Returns the board without the chain on `point` if that chain has no liberties."""
        chain, border = self.region(board, point)
        return board if border - board.keys() else {each: board[each] for each in board.keys() - chain}

    def region(self, board: Board, start: int) -> tuple[set[int], set[int]]:
        """Returns the points connected to `start` with equal content, and the points around them."""
        region, border, left = {start}, set(), [start]
        while left:
            for neighbour in self.around(left.pop(), STRAIGHT):
                if board.get(neighbour) != board.get(start):
                    border.add(neighbour)
                elif neighbour not in region:
                    region.add(neighbour)
                    left.append(neighbour)
        return region, border

    def around(self, point: int, steps: list[tuple[int, int]]) -> list[int]:
        """Returns the points of the board at these steps (down, right) from `point`."""
        row, column = divmod(point, self.rules.size)
        inside = range(self.rules.size)
        near = [(row + down, column + right) for down, right in steps]
        return [y * self.rules.size + x for y, x in near if y in inside and x in inside]
