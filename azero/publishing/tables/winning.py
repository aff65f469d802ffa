"""The cells that decided a game."""

from collections import deque
from collections.abc import Sequence

from azero.games import Game
from azero.games.position_text import cells_in_rows
from azero.publishing.tables.seen import Json, Seen


def winning_of(game: Game, seen: Sequence[Seen], tables: Json) -> Json | None:
    """Returns how the cells that decided a game are found; None if nothing finds the game's own."""
    ended = [each for each in seen if each.state.is_terminal()]
    if not any(each.picture["winning"] for each in ended):
        return None
    _, height, width = game.planes_shape
    rows = ({"kind": "rows", "width": width, "k": k, "exact": exact} for k in (3, 4, 5, 6) for exact in (False, True))
    forms: list[Json] = [*rows, *_paths(tables["still"])]
    for form in forms:
        if all(_winning_by(form, each, height * width) == each.picture["winning"] for each in ended):
            return form
    return None


def _paths(still: Json) -> list[Json]:
    """Returns the paths between the sides of each player, on boards whose sides belong to players."""
    if not still["edges"]:
        return []
    places = [(cell["x"], cell["y"]) for cell in still["cells"]]
    near = [
        [other for other, (a, b) in enumerate(places) if 0.5 < (a - x) ** 2 + (b - y) ** 2 < 1.1] for x, y in places
    ]
    rows = still["rows"]
    ends = [[rows[0], rows[-1]], [[row[0] for row in rows], [row[-1] for row in rows]]]
    return [{"kind": "path", "near": near, "ends": ends}]


def _winning_by(form: Json, seen: Seen, num_cells: int) -> list[int]:
    """Returns the cells that decided a game; none in a draw."""
    result = seen.state.returns()[0]
    if result == 0:
        return []
    winner = 0 if result > 0 else 1
    own = {piece["cell"] for piece in seen.picture["pieces"] if piece["player"] == winner}
    if form["kind"] == "rows":
        cells = ["X" if cell in own else "." for cell in range(num_cells)]
        return cells_in_rows(cells, form["width"], "X", form["k"], form["exact"])
    begin, end = form["ends"][winner]
    return _path(form["near"], own, begin, set(end))


def _path(near: list[list[int]], own: set[int], begin: Sequence[int], end: set[int]) -> list[int]:
    """Returns a shortest path of a player's cells, by a breadth-first search."""
    paths, seen = deque([cell] for cell in begin), set[int]()
    while paths:
        path = paths.popleft()
        if path[-1] not in own or path[-1] in seen:
            continue
        if path[-1] in end:
            return path
        seen.add(path[-1])
        paths.extend([*path, cell] for cell in near[path[-1]])
    return []
