"""Moves of azero's games as Fairy-Stockfish writes them. A move is a whole turn: in Amazons, three actions.

Columns are letters and rows are numbers, as in azero's notation. The forms of the moves differ.
"""

import re
from abc import ABC, abstractmethod

from azero.errors import BadInput
from azero.games import State

_CELL = "[a-z][0-9]{1,2}"


class Notation(ABC):
    """How the moves of a game are written."""

    def write(self, state: State, turns: list[list[int]]) -> list[str]:
        """Returns the engine's texts of turns, whose actions are legal from `state` on."""
        return [self._join(state, texts) for texts in state.game.lines_to_text(state, turns)]

    def read(self, state: State, text: str) -> list[int]:
        """Returns the actions of the turn that an engine's text names; raises BadInput if `state` has no such turn."""
        texts = self._split(state, text)
        if not texts:
            raise BadInput(f"{text!r} is not a move of {state.game} here")
        actions: list[int] = []
        reached = state.clone()
        for each in texts:
            actions.append(state.game.text_to_action(reached, each))
            reached.apply_action(actions[-1])
        return actions

    def turn_of(self, state: State) -> tuple[State, list[int]]:
        """Returns the position in which the turn began, and the actions made since; raises BadInput if unknown."""
        return state, []

    @abstractmethod
    def _join(self, state: State, texts: list[str]) -> str:
        """Returns the engine's text of a turn, given one text in azero's notation per action."""

    @abstractmethod
    def _split(self, state: State, text: str) -> list[str]:
        """Returns the texts of a turn's actions in azero's notation; none if it is not the text of a move."""


class Steps(Notation):
    """A piece steps from one cell to another: `a2a3`."""

    def _join(self, state: State, texts: list[str]) -> str:
        return re.sub("[-x]", "", texts[0])

    def _split(self, state: State, text: str) -> list[str]:
        return [text] if re.fullmatch(_CELL + _CELL, text) else []


class StepsWithArrows(Notation):
    """A piece steps and shoots an arrow: `d1d7,d7g7`. Its new cell is written twice."""

    def turn_of(self, state: State) -> tuple[State, list[int]]:
        num_made = int(state.record["phase"])
        if num_made == 0:
            return state, []
        if not state.is_replayable():
            raise BadInput("an engine chooses whole turns; give the moves before this one as 'moves: ...'")
        begin = state.game.new_initial_state()
        for action in state.history()[:-num_made]:
            begin.apply_action(action)
        return begin, state.history()[-num_made:]

    def _join(self, state: State, texts: list[str]) -> str:
        start, end, shot = (text.strip("-/") for text in texts)
        return f"{start}{end},{end}{shot}"

    def _split(self, state: State, text: str) -> list[str]:
        match = re.fullmatch(rf"({_CELL})({_CELL}),\2({_CELL})", text)
        return [match[1], f"-{match[2]}", f"/{match[3]}"] if match else []


class Drops(Notation):
    """A piece is put on the board: `P@d3`, for both players. A pass is a step of a piece to its own cell: `d4d4`."""

    def _join(self, state: State, texts: list[str]) -> str:
        return "0000" if texts[0] == "pass" else f"P@{texts[0]}"

    def _split(self, state: State, text: str) -> list[str]:
        if text == "0000" or re.fullmatch(rf"({_CELL})\1", text):
            return ["pass"]
        return [text[2:]] if re.fullmatch(f"P@{_CELL}", text) else []


class FallingDrops(Notation):
    """A piece falls to the lowest empty cell of a column: `P@d3`. azero writes the column's number, `4`."""

    def _join(self, state: State, texts: list[str]) -> str:
        column = int(texts[0]) - 1
        board = state.to_text().split()[0]
        rows = [re.sub("[0-9]", lambda run: "." * int(run[0]), row) for row in board.split("/")]
        row = sum(each[column] != "." for each in rows) + 1
        return f"P@{chr(ord('a') + column)}{row}"

    def _split(self, state: State, text: str) -> list[str]:
        texts = [state.game.action_to_text(state, action) for action in state.legal_actions()]
        return [each for each in texts if self._join(state, [each]) == text]


def turns_beginning(state: State, actions: list[int]) -> list[list[int]]:
    """Returns all turns of `state` that begin with these legal actions."""
    reached = state.clone()
    for action in actions:
        reached.apply_action(action)
    if actions and reached.current_player() != state.current_player():  # or the game is over
        return [actions]
    return [turn for action in reached.legal_actions() for turn in turns_beginning(state, [*actions, action])]
