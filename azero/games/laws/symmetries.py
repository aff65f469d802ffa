"""The laws of symmetries, of exchanged players and of places. Findings name the cells and the moves that do not fit."""

import random
from collections.abc import Callable

import numpy as np

from azero.games.contract import Exchange, Symmetries
from azero.games.defaults import has_own
from azero.games.laws.findings import Broken, Notes, hold, state_after, walk_game
from azero.games.reasons import listed, short
from azero.games.state import Game, State, exchanged, target_of


def check_symmetry_tables(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Symmetries are different permutations, the identity first. The product of two of them is one of them too."""
    cells, gathers = _permutations(game)
    for table, name in ((cells[0], _namer_of_cells(game)), (gathers[0], _namer_of_moves(game.new_initial_state()))):
        for image in np.flatnonzero(table != np.arange(len(table)))[:1].tolist():
            raise Broken(
                f"the first symmetry is not the identity: it takes {name(table[image])} to {name(image)}", game
            )
    known = {one.tobytes() + other.tobytes() for one, other in zip(cells, gathers, strict=True)}
    hold(len(known) == len(cells), "a symmetry is listed twice", game)
    for s in range(len(cells)):
        for t in range(len(cells)):
            is_known = cells[s][cells[t]].tobytes() + gathers[s][gathers[t]].tobytes() in known
            hold(is_known, f"symmetry {s} after symmetry {t} is not in the list", game)


def check_symmetries(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """A symmetry maps each game to a game: planes, legal actions, turns and the result correspond."""
    for s, (cells, gather) in enumerate(zip(*_permutations(game), strict=True)):
        if s == 0:
            continue
        image = game.new_initial_state()
        for state, before, action in walk_game(game, actions):
            wrong = _asymmetry(f"symmetry {s}", state, image, cells, gather, action)
            hold(not wrong, wrong, game, before, image.history())
            if action is not None:
                image.apply_action(int(np.flatnonzero(gather == action)[0]))


def _asymmetry(name: str, state: State, image: State, cells: np.ndarray, gather: np.ndarray, action: int | None) -> str:
    """Returns how a position and its image by a symmetry do not correspond; empty if they do.

    Args:
      action: is played next.
    """
    planes, seen = (each.planes().reshape(len(each.planes()), -1) for each in (state, image))
    if len(wrong := np.argwhere(planes[:, cells] != seen)):
        return _wrong_planes(name, state, image, cells, wrong.tolist())
    if wrong_move := _wrong_move(name, state, image, gather):
        return wrong_move
    if state.is_terminal() != image.is_terminal():
        return f"{name} leads from an end of the game to a position where it goes on, or back"
    if state.current_player() != image.current_player():
        return f"{name} does not keep the turn: players {state.current_player()} and {image.current_player()} move"
    if state.returns() != image.returns():
        return f"{name} changes the result from {state.returns()[0]:+g} to {image.returns()[0]:+g}"
    if action is not None and has_own(state.game.rules, "target"):
        return _wrong_target(name, state, image, cells, gather, action)
    if action is None and has_own(state.game.rules, "ownership"):
        return _wrong_owner(name, state.game, cells, state.ownership().ravel(), image.ownership().ravel())
    return ""


def _wrong_planes(name: str, state: State, image: State, cells: np.ndarray, wrong: list[list[int]]) -> str:
    """Returns a cell whose planes differ from those of its image. The cell of the last move says most.

    Args:
      wrong: [plane, cell of the image] of each difference.
    """
    cell, played = _namer_of_cells(state.game), state.history()[-1:]
    plane, k = next((each for each in wrong if cells[each[1]] in played), wrong[0])
    values = [float(each.planes()[plane].ravel()[c]) for each, c in ((state, cells[k]), (image, k))]
    move = f" and {_pair(_last_move(state), _last_move(image))}" if played else ""
    where = f"{values[0]:g} in {cell(cells[k])}, {values[1]:g} in {cell(k)}"
    return f"{name} takes cell {cell(cells[k])} to {cell(k)}{move}, but plane {plane} is {where}"


def _wrong_move(name: str, state: State, image: State, gather: np.ndarray) -> str:
    """Returns a move that is legal where its image is not, or the other way round; empty if there is none."""
    for k in np.flatnonzero(_mask(state)[gather] != _mask(image))[:1].tolist():
        there = listed(image.game.action_to_text(image, each) for each in image.legal_actions())
        is_legal = int(gather[k]) in state.legal_actions()
        kept, lost = ("legal", "illegal") if is_legal else ("illegal", "legal")
        moves = _pair(_move(state, gather[k]), _move(image, k))
        return f"{name} takes {moves}, but one is {kept}, the other {lost}; legal there: {there}"
    return ""


def _wrong_target(name: str, state: State, image: State, cells: np.ndarray, gather: np.ndarray, action: int) -> str:
    """Returns what is wrong with the target of a move and the target of its image; empty if they correspond."""
    same = int(np.flatnonzero(gather == action)[0])
    target, seen = target_of(state, action), target_of(image, same)
    if (cells[seen] if 0 <= seen < len(cells) else seen) == target:
        return ""
    cell, moves = _namer_of_cells(state.game), _pair(_move(state, action), _move(image, same))
    mapped = next(iter(np.flatnonzero(cells == target).tolist()), -1)
    return f"{name} takes {moves} and cell {cell(target)} to {cell(mapped)}, but target there is {cell(seen)}"


def _wrong_owner(name: str, game: Game, cells: np.ndarray, owners: np.ndarray, seen: np.ndarray) -> str:
    """Returns a cell whose owner differs from that of its image; empty if there is none."""
    for k in np.flatnonzero(owners[cells] != seen)[:1].tolist():
        cell = _namer_of_cells(game)
        values = f"the owner of {cell(cells[k])} is {owners[cells[k]]}, of {cell(k)} {seen[k]}"
        return f"ownership does not follow {name}, which takes cell {cell(cells[k])} to {cell(k)}: {values}"
    return ""


def check_exchange(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """The exchanged position has the other player to move, the same actions, and the opposite result.

    A move leads from it to the position that is exchanged from the one after the move. To exchange twice changes
    nothing. Where there is no exchanged position, the turn stays.
    """
    if not has_own(game.rules, "exchange_players"):
        return
    tables = _permutations_of_exchange(game)
    seen: State | None = None  # the exchanged position before, after the same move
    for state, before, action in walk_game(game, actions):
        other = exchanged(state)
        if other is not None:
            wrong = _wrong_exchange(state, other, tables, action)
            if not wrong and seen is not None and _looks(other) != _looks(seen):
                wrong = "exchange_players and a move lead to another position than the move and exchange_players"
            hold(not wrong, wrong, game, before)
        seen = None
        if other is not None and action is not None:
            seen = other.clone()
            seen.apply_action(int(np.flatnonzero(tables.actions == action)[0]))


def _wrong_exchange(state: State, other: State, tables: Exchange, action: int | None) -> str:
    """Returns why `other` is not `state` with the players exchanged; empty if it is. `action` is played next."""
    rules, back = state.game.rules, exchanged(other)
    if back is None or _looks(back) != _looks(state):
        return "exchange_players twice changes the position"
    if other.returns() != state.returns()[::-1]:
        return "exchange_players does not exchange the result"
    if action is None:
        if other.final_score() != -state.final_score():
            return "exchange_players does not exchange the score"
        if has_own(rules, "ownership"):
            owners = -state.ownership().ravel()
            return _wrong_owner("exchange", state.game, tables.cells, owners, other.ownership().ravel())
        return ""
    if other.current_player() != 1 - state.current_player():
        return "exchange_players does not give the turn"
    wrong = _wrong_move("exchange", state, other, tables.actions)
    return wrong or (_wrong_target("exchange", state, other, *tables, action) if has_own(rules, "target") else "")


def _looks(state: State) -> tuple:
    """Returns what a position shows, except how it came about."""
    return state.current_player(), state.returns(), state.legal_actions(), state.hash_key(), state.planes().tobytes()


def check_places(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Each action has its own place, which follows the symmetries."""
    if not has_own(game.rules, "places"):
        return
    planes, slots, numbers = game.places
    tables = _permutations(game)
    num_cells = tables.cells.shape[1]
    on_board = planes * num_cells
    fits = numbers.shape == (game.num_actions,) and numbers.min() >= 0 and numbers.max() < on_board + slots
    found = f"places have numbers {list(numbers.shape)} from {numbers.min()} to {numbers.max()}"
    hold(fits, f"{found}; they should be [{game.num_actions}] from 0 to {on_board + slots - 1}", game)
    move, cell = _namer_of_moves(game.new_initial_state()), _namer_of_cells(game)
    first, inverse = np.unique(numbers, return_index=True)[1], np.unique(numbers, return_inverse=True)[1]
    for action in np.flatnonzero(first[inverse] != np.arange(len(numbers)))[:1].tolist():
        raise Broken(f"{move(first[inverse][action])} and {move(action)} have the same place", game)
    own = np.where(numbers < on_board, numbers % num_cells, -1)  # the cell of each action
    for s, (cells, gather) in enumerate(zip(*tables, strict=True)):
        mapped = np.where(own >= 0, cells[own], -1)
        for k in np.flatnonzero(own[gather] != mapped)[:1].tolist():
            taken = f"{_pair(move(gather[k]), move(k))} and cell {cell(own[gather[k]])}"
            image = next(iter(np.flatnonzero(cells == own[gather[k]]).tolist()), -1)
            raise Broken(f"symmetry {s} takes {taken} to {cell(image)}, but places has it in {cell(own[k])}", game)


def _permutations(game: Game) -> Symmetries:
    """Returns the symmetries. Raises Broken if a row of their tables is not a permutation."""
    cells, gathers = game.symmetries
    _, height, width = game.planes_shape
    sizes = height * width, game.num_actions
    shapes = [(len(cells), size) for size in sizes]
    found = f"symmetries have cells {list(cells.shape)}, actions {list(gathers.shape)}"
    is_whole = len(cells) > 0 and [cells.shape, gathers.shape] == shapes
    hold(is_whole, f"{found}, not [S, {sizes[0]}], [S, {sizes[1]}]", game)
    found = f"symmetries have cells of {cells.dtype} and actions of {gathers.dtype}"
    hold(cells.dtype == gathers.dtype == np.int32, f"{found}; both should be of int32", game)
    for s in range(len(cells)):
        _hold_permutation(f"symmetry {s}", "cells", cells[s], _namer_of_cells(game), game)
        _hold_permutation(f"symmetry {s}", "actions", gathers[s], _namer_of_moves(game.new_initial_state()), game)
    return Symmetries(cells, gathers)


def _permutations_of_exchange(game: Game) -> Exchange:
    """Returns the tables of the exchange. Raises Broken if one is not a permutation."""
    tables = game.rules.exchange()
    _, height, width = game.planes_shape
    for what, table, size in zip(("cells", "actions"), tables, (height * width, game.num_actions), strict=True):
        is_right = table.shape == (size,) and table.dtype == np.int32
        hold(is_right, f"exchange has {what} of {table.dtype} {list(table.shape)}, not int32 [{size}]", game)
    _hold_permutation("exchange", "cells", tables[0], _namer_of_cells(game), game)
    _hold_permutation("exchange", "actions", tables[1], _namer_of_moves(game.new_initial_state()), game)
    return Exchange(*tables)


def _hold_permutation(name: str, what: str, table: np.ndarray, called: Callable[[int], str], game: Game) -> None:
    """Raises Broken if a table of cells or actions is not a permutation, with one that is missing."""
    if (np.sort(table) == np.arange(len(table))).all():
        return
    lacking = called(int(np.setdiff1d(np.arange(len(table)), table)[0]))
    numbers, counts = np.unique(table, return_counts=True)
    if numbers[0] < 0 or numbers[-1] >= len(table):
        found = f"{short(numbers[0] if numbers[0] < 0 else numbers[-1])} is not a number of {what}"
    else:
        found = f"{called(int(numbers[np.argmax(counts)]))} is there {counts.max()} times"
    raise Broken(f"{name} is not a permutation of {what}: {found}, {lacking} is missing", game)


def _mask(state: State) -> np.ndarray:
    mask = np.zeros(state.game.num_actions, bool)
    mask[state.legal_actions()] = True
    return mask


# --- names of cells and moves ---


def _namer_of_cells(game: Game) -> Callable[[int], str]:
    """Returns a function that names cells of the planes: as the game's picture does, else by row and column."""
    _, height, width = game.planes_shape
    cells = game.picture(game.new_initial_state()).board.cells

    def name(cell: int) -> str:
        if not 0 <= cell < height * width:
            return "no cell"
        row, column = divmod(int(cell), width)
        return cells[cell].name if len(cells) == height * width else f"row {row + 1}, column {column + 1}"

    return name


def _namer_of_moves(state: State) -> Callable[[int], str]:
    """Returns a function that names actions in a position, legal or not."""
    return lambda action: _move(state, action)


def _move(state: State, action: int) -> str:
    """Returns `move a1`, or `action 0` if the game has no text for the action here: it need not be legal."""
    try:
        text = state.game.action_to_text(state, int(action)) if has_own(state.game.rules, "action_to_text") else ""
    except Exception:  # the rules may rely on a legal action
        text = ""
    return f"move {text}" if text else f"action {action}"


def _pair(one: str, other: str) -> str:
    """Returns `move a1 to b1` from the names of two moves."""
    return f"{one} to {other.partition(' ')[2]}"


def _last_move(state: State) -> str:
    """Returns the move that led to a position."""
    *before, last = state.history()
    return _move(state_after(state.game, before), last)
