"""The law of keys: positions with equal `hash_key` have the same future. It is checked in enumerated positions.

Equal state records have equal keys. If a game `is_history_free`, two positions with equal keys have the same player to
move, outcome and legal actions. The same action leads from both to equal keys again.
"""

import functools
import math
import random
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE
from azero.compiler.jit import kernel
from azero.compiler.rng import mix
from azero.games.contract import ONGOING
from azero.games.laws.findings import Notes, hold, state_after
from azero.games.state import Game, State, new_states

_NUM_TWINS = 20
"""Pairs of positions with equal keys and different records from which play continues, per game."""

_NUM_TRIED = 4
"""Moves tried at each position of such a pair."""

_MOST_LOOKALIKES = 10_000

_AT_ONCE = 256  # positions expanded by one call
_ROOM_BYTES = 1 << 22  # memory for their children


def check_keys(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Equal records have equal keys. In a history-free game, positions with equal keys have the same future.

    Checks all positions of the game, all positions of the game with two moves swapped, and the positions that can be
    reached from the last ones. Then plays on from pairs with equal keys and different records.
    """
    known = notes.enumeration = notes.enumeration or Enumeration(game)
    lines = [_states_of(game, line) for line in (actions, swap_two_moves(actions, chooser))]
    limit = known.num_followed + notes.moves_a_game
    for state in reversed(lines[0]):
        if known.num_followed < limit and notes.is_in_time():
            known.explore(state, limit - known.num_followed, notes.is_in_time)
    for states in zip_longest(*lines):
        if notes.has_time():
            for state in filter(None, states):
                known.explore(state, 0)
    for one, other in chooser.sample(known.twins, min(_NUM_TWINS, len(known.twins))):
        if notes.is_in_time():
            _play_on(game, known.line_to(one), known.line_to(other), chooser)
    known.twins.clear()


def _states_of(game: Game, actions: list[int]) -> list[State]:
    """Returns the positions of a game, as far as its actions are legal."""
    states = [game.new_initial_state()]
    for action in actions:
        if action not in states[-1].legal_actions():
            break
        states.append(states[-1].clone())
        states[-1].apply_action(action)
    return states


def _play_on(game: Game, actions: list[int], others: list[int], chooser: random.Random) -> None:
    """Plays the same random moves after two lines that lead to equal keys, until the records are equal.

    It tries a few moves and prefers one after which the game goes on with different records. A difference that the key
    lacks may matter many moves later, e.g. the number of plies without a capture.
    """
    one, other = _states_of(game, actions)[-1], _states_of(game, others)[-1]
    while one.record.tobytes() != other.record.tobytes():
        legal = one.legal_actions()
        tried = chooser.sample(legal, min(_NUM_TRIED, len(legal)))
        found = difference(one, other, tried)
        hold(not found, f"hash_key is equal, but {found}", game, one.history(), other.history())
        if one.is_terminal():
            return
        after = [(_after(one, action), _after(other, action)) for action in tried]
        one, other = next((each for each in after if _goes_on_apart(*each)), after[0])


def _after(state: State, action: int) -> State:
    after = state.clone()
    after.apply_action(action)
    return after


def _goes_on_apart(one: State, other: State) -> bool:
    """Returns whether the records of two positions differ and the game is not over."""
    return not one.is_terminal() and one.record.tobytes() != other.record.tobytes()


def swap_two_moves(actions: list[int], chooser: random.Random) -> list[int]:
    """Returns the same game with two moves, two plies apart, swapped. It is often a transposition."""
    if len(actions) < 3:
        return actions
    i = chooser.randrange(len(actions) - 2)
    return [*actions[:i], actions[i + 2], actions[i + 1], actions[i], *actions[i + 3 :]]


@kernel
def _expand(game, states, legal, planes, words, keys, looks, sights, children, parents, actions, child_keys):
    """Makes each move of some positions until the arrays are full; returns the numbers of positions and of moves.

    Args:
      states: [n] records, the positions.
      legal: [A] int32, working memory.
      planes: [C, H, W] float32, working memory.
      words: [w] uint64, the memory of `planes`.
      keys: [n] uint64, written: the positions' keys.
      looks: [n] uint64, written: digests of everything that must be the same in positions with equal keys.
      sights: [n] uint64, written: digests of the planes; 0 where the game is over.
      children: [m] records, written: the positions after the moves, in order; m is at least A.
      parents: [m] int32, written: the index of each child's parent in `states`.
      actions: [m] int32, written: the moves.
      child_keys: [m] uint64, written: the children's keys.
    """
    count = 0
    for i in range(len(states)):
        outcome = game.outcome(states[i])
        look = mix(np.uint64(outcome + 1))
        num_legal = 0
        if outcome == ONGOING:
            num_legal = game.legal_actions(states[i], legal)
            if count + num_legal > len(children):
                return i, count
            look = mix(look ^ np.uint64(game.current_player(states[i])))
        keys[i] = game.hash_key(states[i])
        sights[i] = 0
        if num_legal > 0:
            game.encode(states[i], planes)
            sights[i] = ONE
            for k in range(len(words)):
                sights[i] = mix(sights[i] ^ words[k])
        for k in range(num_legal):
            children[count] = states[i]
            game.apply_action(children[count], np.int64(legal[k]))
            child_keys[count] = game.hash_key(children[count])
            look = mix(mix(look ^ np.uint64(legal[k])) ^ child_keys[count])
            parents[count], actions[count] = i, legal[k]
            count += 1
        looks[i] = look
    return len(states), count


@kernel
def _digest(words, digests):
    """Writes a digest ([n] uint64) of each row of `words` ([n, w] uint64)."""
    for i in range(len(words)):
        digests[i] = 0
        for k in range(words.shape[1]):
            digests[i] = mix(digests[i] ^ words[i, k]) + ONE


def digests_of(records: np.ndarray) -> np.ndarray:
    """Returns a digest ([n] uint64) of each of n records, from all bytes of their fields."""
    width = records.dtype.itemsize
    padded = np.zeros((len(records), -(-width // 8) * 8), np.uint8)
    padded[:, :width] = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), width)
    padded[:, :width] *= _bytes_of_fields(records.dtype)
    digests = np.zeros(len(records), np.uint64)
    _digest(padded.view(np.uint64), digests)
    return digests


@functools.cache
def _bytes_of_fields(dtype: np.dtype) -> np.ndarray:
    """Returns 1 for each byte of a field and 0 for padding ([itemsize] uint8). Compiled copies skip padding."""
    of_fields = np.zeros(dtype.itemsize, np.uint8)
    for field, offset in (each[:2] for each in (dtype.fields or {}).values()):
        of_fields[offset : offset + field.itemsize] = 1
    return of_fields


class _Chunk(NamedTuple):
    """Positions whose moves have not been made yet."""

    records: np.ndarray  # [n]
    nodes: range | Sequence[int]  # [n] their numbers


class Enumeration:
    """The positions of one game, numbered in the order of discovery. Each is expanded once, and its key is checked.

    Attributes:
      game: the game.
      num_followed: moves made so far.
      twins: pairs of positions with equal keys and different records, if equal keys promise an equal future.
      lookalikes: some pairs of positions with equal planes and different keys, players, moves or keys after a move.
    """

    def __init__(
        self,
        game: Game,
        identity: Callable[[np.ndarray], np.ndarray] = digests_of,
        is_history_free: bool | None = None,
    ):
        """Begins without a position.

        Args:
          identity: returns digests ([n] uint64) of n records. Equal digests mean the same position. The default uses
            the whole record; another function may leave out the history.
          is_history_free: whether equal keys promise an equal future; by default as the game says.
        """
        self.game = game
        self.num_followed = 0
        self.twins: list[tuple[int, int]] = []
        self.lookalikes: list[tuple[int, int]] = []
        self._identity = identity
        self._is_history_free = game.rules.is_history_free if is_history_free is None else is_history_free
        self._node_of: dict[int, int] = {}  # by digest
        self._keys, self._looks = array("Q"), array("Q")  # by node; looks only of expanded positions
        self._unexpanded: set[int] = set()
        self._parents, self._actions = array("q"), array("q")  # by node; a line's first has -1 and its number
        self._lines: list[list[int]] = []
        self._first_of: dict[int, int] = {}  # by key, the first expanded node
        self._met: dict[int, int] = {}  # by key, the first known node
        self._seen: dict[int, int] = {}  # by digest of the planes, the first expanded node
        num_rows = max(game.num_actions, _ROOM_BYTES // game.rules.state_dtype.itemsize)
        self._children = new_states(game.rules, num_rows)
        self._room = np.zeros(num_rows, np.int32), np.zeros(num_rows, np.int32), np.zeros(num_rows, np.uint64)
        self._legal = np.zeros(game.num_actions, np.int32)
        size = math.prod(game.planes_shape)
        flat = np.zeros(size + size % 2, np.float32)
        self._planes, self._words = flat[:size].reshape(game.planes_shape), flat.view(np.uint64)

    def __len__(self) -> int:
        """Returns the number of known positions. The last ones may not be expanded yet."""
        return len(self._keys)

    @property
    def num_expanded(self) -> int:
        return len(self._keys) - len(self._unexpanded)

    def explore(self, state: State, most: int, is_in_time: Callable[[], bool] = lambda: True) -> bool:
        """Makes about `most` moves from a position, while it is in time. Returns whether there are no more.

        The order is breadth-first. The position itself is always expanded. Positions that have been expanded before are
        not expanded again. Raises Broken if a key breaks the law. Positions that are not terminal and have no move are
        ignored: another law covers them.
        """
        records: np.ndarray = new_states(self.game.rules, 1)
        records[0] = state.record
        self._lines.append(state.history())
        chunks = deque(self._take_in(records, [state.hash_key()], [-1], [len(self._lines) - 1]))
        if not chunks:
            self._lines.pop()
            node = self._node_of[int(self._identity(records)[0])]
            chunks.extend([_Chunk(records, [node])] if node in self._unexpanded else [])
        limit = self.num_followed + most
        while chunks:
            records, nodes = chunks.popleft()
            room = max(limit - self.num_followed, self.game.num_actions)
            num_expanded, found = self._expand(records[:_AT_ONCE], nodes, room)
            if num_expanded < len(nodes):
                chunks.appendleft(_Chunk(records[num_expanded:], nodes[num_expanded:]))
            chunks.extend(found)
            if self.num_followed >= limit or not is_in_time():
                break
        return not chunks

    def line_to(self, node: int) -> list[int]:
        """Returns the actions from the start of the game to a position."""
        actions: list[int] = []
        while self._parents[node] >= 0:
            actions.append(self._actions[node])
            node = self._parents[node]
        return self._lines[self._actions[node]] + actions[::-1]

    def _expand(self, records: np.ndarray, nodes: Sequence[int], room: int) -> tuple[int, list[_Chunk]]:
        """Makes the moves of positions until the arrays are full; returns how many, and the new positions."""
        keys, looks, sights = np.zeros((3, len(records)), np.uint64)
        parents, actions, child_keys = self._room
        work = self._legal, self._planes, self._words
        num_expanded, count = _expand(
            self.game.rules, records, *work, keys, looks, sights, self._children[:room], parents, actions, child_keys
        )
        self.num_followed += count
        for i in range(num_expanded):
            self._compare(nodes[i], int(looks[i]))
            self._note_lookalike(nodes[i], int(sights[i]))
        before = [nodes[parent] for parent in parents[:count].tolist()]
        return num_expanded, self._take_in(
            self._children[:count], child_keys[:count].tolist(), before, actions[:count].tolist()
        )

    def _take_in(
        self, records: np.ndarray, keys: Sequence[int], parents: Sequence[int], actions: Sequence[int]
    ) -> list[_Chunk]:
        """Numbers and returns the new positions. Checks that known positions have the same key as before."""
        new: list[int] = []
        first = len(self)
        for i, digest in enumerate(self._identity(records).tolist()):
            node = self._node_of.setdefault(digest, len(self))
            if node < len(self) and self._keys[node] == keys[i]:
                continue
            self._keys.append(keys[i])
            self._looks.append(0)
            self._unexpanded.add(len(self) - 1)
            self._parents.append(parents[i])
            self._actions.append(actions[i])
            self._hold(node == len(self) - 1, "hash_key differs between equal records", len(self) - 1, node)
            twin = self._met.setdefault(keys[i], node)
            if twin != node and self._is_history_free:
                self.twins.append((node, twin))
            new.append(i)
        return [_Chunk(records[new], range(first, len(self)))] if new else []

    def _compare(self, node: int, look: int) -> None:
        """Compares a position with the first expanded one that has the same key."""
        self._looks[node] = look
        self._unexpanded.discard(node)
        first = self._first_of.setdefault(self._keys[node], node)
        if first == node or not self._is_history_free:
            return
        if self._looks[first] != look:
            one, other = (state_after(self.game, self.line_to(each)) for each in (node, first))
            found = difference(one, other, one.legal_actions())
            what = found or "a repeated move leads to another position: do the rules use random numbers?"
            self._hold(False, f"hash_key is equal, but {what}", node, first)

    def _note_lookalike(self, node: int, sight: int) -> None:
        """Notes a position with the planes of an earlier one, if they differ otherwise."""
        first = self._seen.setdefault(sight, node) if sight else node
        if self._looks[first] != self._looks[node] and len(self.lookalikes) < _MOST_LOOKALIKES:
            self.lookalikes.append((first, node))

    def _hold(self, is_kept: object, what: str, node: int, other: int) -> None:
        if not is_kept:
            hold(False, what, self.game, self.line_to(node), self.line_to(other))


def difference(one: State, other: State, actions: Sequence[int]) -> str:
    """Returns how two positions with equal keys break the law, after trying some actions of `one`. May be empty."""
    if one.returns() != other.returns() or one.is_terminal() != other.is_terminal():
        return f"the outcome is {_outcome_of(one)} and {_outcome_of(other)}"
    if one.current_player() != other.current_player():
        return f"player {one.current_player()} and player {other.current_player()} are to move"
    legal, others = one.legal_actions(), other.legal_actions()
    for action in sorted({*legal} ^ {*others}):
        only = one if action in legal else other
        where = "first" if only is one else "second"
        return f"{one.game.action_to_text(only, action)} is legal in the {where} position only"
    for action in actions:
        after, other_after = one.clone(), other.clone()
        after.apply_action(action)
        other_after.apply_action(action)
        if after.hash_key() != other_after.hash_key():
            return f"{one.game.action_to_text(one, action)} leads to different keys"
    return ""


def _outcome_of(state: State) -> str:
    return f"{state.returns()[0]:+g}" if state.is_terminal() else "open"
