"""A game of a person against an agent, in the terminal."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import RESIGN, Suggestion
from azero.arena.reviews.review import Reviewer
from azero.errors import BadInput
from azero.games import State
from azero.games.defaults import has_own
from azero.games.position_text import turn_to_text
from azero.interfaces.terminal.answers import (
    command_of,
    complete,
    example,
    explain,
    help_on,
    legal_moves,
    read_turn,
)
from azero.interfaces.terminal.board import COLOURS, show_board, side_names, styled
from azero.interfaces.terminal.clocks import Clocks
from azero.interfaces.terminal.game_so_far import Ending, GameSoFar, Note
from azero.interfaces.terminal.results import best_turn, show_review, show_suggestion
from azero.interfaces.terminal.screen import Screen
from azero.records import Record, save_records
from azero.records.record import OUT_OF_TIME, RESIGNED

_UNFINISHED = "The game is left unfinished."
_AFTER = "review, undo, save FILE, or Enter to leave: "


class TerminalGame:
    """A game in the terminal.

    Args:
      played: the game so far.
      person: the person's side, 0 or 1.
      clocks: of both sides; None: without clocks.
      file: a file that the game is added to at the end, also after Ctrl-C; None: none.
    """

    def __init__(
        self,
        agent: Agent,
        played: GameSoFar,
        person: int,
        screen: Screen,
        clocks: Clocks | None = None,
        file: Path | None = None,
    ):
        self.agent, self.played, self.person, self.screen, self.clocks = agent, played, person, screen, clocks
        self.adviser = agent.at_full_strength
        self.ending: Ending | None = None
        self._file = file
        self._thought_s = 0.0  # by the person, since the last move
        self._names = ("person", agent.name) if person == 0 else (agent.name, "person")
        self._saved: list[tuple[Path, Record]] = []
        self._sides = side_names(played.positions[0])
        self._commands: dict[str, Callable[[str], None]] = {
            "moves": lambda _: self.screen.tell(" ".join(legal_moves(self.state))),
            "hint": lambda _: self._hint(),
            "values": lambda _: self.screen.tell(show_suggestion(self.adviser.suggest(self.state), self.state)),
            "undo": lambda _: self._undo(),
            "save": self._save,
            "resign": lambda _: self._end("You resign, and lose.", 1 - self.person, RESIGNED),
            "review": lambda _: self._review(),
            "help": lambda _: self.screen.tell(help_on(self.state)),
        }

    @property
    def state(self) -> State:
        """The position now."""
        return self.played.state

    def run(self) -> None:
        """Plays until the person leaves. Then the game is added to the file, if it has a move."""
        try:
            self._run()
        finally:
            if self._file and len(self.played.notes) > self.played.num_given:
                self._save(str(self._file))

    def _run(self) -> None:
        if self.clocks:
            self.agent.player.start_clock()
        side = "first" if self.person == 0 else "second"
        about = f"You play {side} against {self.agent.name}."
        self.screen.tell(f"{about} Enter a move, e.g. {example(self.state)}, or help.")
        shown = None
        while True:
            if self.state.history() != shown:
                self._show_position()
                shown = self.state.history()
            if self.state.is_terminal() and not self.ending:
                self._end_by_rules()
            if not self.ending and self.state.current_player() != self.person:
                self._agent_moves()
                continue
            try:
                answer = self._ask()
            except EOFError:
                self.screen.tell("" if self.ending else f"\n{_UNFINISHED}")
                return
            if not self.ending and self.clocks and self.clocks.is_persons_time_over():
                self._end("Your time is over. You lose.", 1 - self.person, OUT_OF_TIME)
            elif not self._obey(answer):
                return

    def _show_position(self) -> None:
        board = show_board(self.state, self.played.before_last_turn(), self.screen.is_coloured)
        self.screen.tell(f"\n{board}\n" + (f"\n{self.clocks}\n" if self.clocks else ""))

    def _ask(self) -> str:
        """Returns what the person types. The person's clock runs meanwhile."""
        state = self.state
        if self.ending:
            return self.screen.ask(_AFTER, lambda typed: complete(state, typed)).strip()
        prompt = " ".join([f"{self._heading(self.person)}:", *self.played.turn_so_far(), ""])
        left_s = self.clocks.persons_left_s() if self.clocks else None
        begin = time.perf_counter()
        with self.clocks.persons_turn(self.agent, state) if self.clocks else nullcontext():
            answer = self.screen.ask(prompt, lambda typed: complete(state, typed), left_s).strip()
        self._thought_s += time.perf_counter() - begin
        return answer

    def _heading(self, player: int) -> str:
        """Returns the number of the turn, and whose turn it is."""
        name = "you" if player == self.person else self.agent.name
        side = styled(self._sides[player], [COLOURS[player]] if self.screen.is_coloured else [])
        return f"move {self.played.number()}, {name} ({side})"

    def _obey(self, answer: str) -> bool:
        """Runs a command or plays a move; returns whether the person stays."""
        command, argument = command_of(answer, self.state)
        if command == "quit" or (self.ending and not answer):
            if not self.ending:
                self.screen.tell(_UNFINISHED)
            return False
        if self.ending and command not in ("undo", "save", "review"):
            self.screen.tell("The game is over.")
        elif not self.ending and command == "review":
            self.screen.tell("A review is for the end of the game; hint and values are for now.")
        elif command:
            try:
                self._commands[command](argument)
            except BadInput as error:
                self.screen.tell(str(error))
        else:
            self._move(answer)
        return True

    def _move(self, answer: str) -> None:
        before = self.state
        try:
            actions = read_turn(before, answer)
        except BadInput as error:
            self.screen.tell(explain(before, answer, error))
            return
        for k, action in enumerate(actions):
            self.played.add(action, Note(seconds=self._thought_s if k == 0 else 0.0))
        self._thought_s = 0.0
        if self.clocks:
            self.clocks.person_moved(before, self.state)

    def _agent_moves(self) -> None:
        """Plays the agent's turn, unless it resigns or its time is over."""
        heading, turn, value, elapsed_s = self._heading(1 - self.person), list[str](), None, 0.0
        while self.state.current_player() == 1 - self.person:
            state = self.state
            suggestion = self.clocks.agents_move(self.agent, state) if self.clocks else self.agent.suggest(state)
            if self.clocks and self.clocks.agent.has_fallen:
                return self._end(f"{self.agent.name} lost on time. You win.", self.person, OUT_OF_TIME)
            if suggestion.action == RESIGN or self.agent.resigns(suggestion.value):
                return self._end(f"{self.agent.name} resigns. You win.", self.person, RESIGNED)
            value, elapsed_s = _value_of(suggestion), elapsed_s + suggestion.elapsed_s
            note = Note(value, suggestion.simulations, suggestion.elapsed_s)
            for action in suggestion.actions:
                turn.append(state.game.action_to_text(self.state, action))
                self.played.add(action, note)
                note = Note()
        known = f"value {value:+z.2f} for it, " if value is not None else ""
        self.screen.tell(f"{heading}: {turn_to_text(self.state.game.rules, turn)}   ({known}{elapsed_s:.1f} s)")

    def _hint(self) -> None:
        suggestion = self.adviser.suggest(self.state)
        value = _value_of(suggestion)
        known = f"   (value {value:+z.2f} for you)" if value is not None else ""
        self.screen.tell(f"hint: {best_turn(suggestion, self.state)}{known}")

    def _undo(self) -> None:
        if self.ending and self.ending.termination == OUT_OF_TIME:
            self.screen.tell("A game that is lost on time stays lost.")
        elif self.played.take_back(self.person):
            self.ending = None
            if self.clocks:
                self.clocks.turn_taken_back()
        else:
            self.screen.tell("There is nothing to take back.")

    def _review(self) -> None:
        """Shows what each move lost, by the agent's searches."""
        self.screen.tell(f"{self.adviser.name} reviews the game; Ctrl-C stops it.")
        try:
            review = Reviewer(self.adviser).review(self.played.to_record(self._names, self.ending))
        except KeyboardInterrupt:
            self.screen.tell("The review was stopped.")
        else:
            self.screen.tell(show_review(review))

    def _save(self, file: str) -> None:
        """Adds the game to a file, unless it was added there as it is."""
        if not file:
            self.screen.tell("save needs the name of a file, e.g. save game.txt")
            return
        added = Path(file).expanduser(), self.played.to_record(self._names, self.ending)
        if added in self._saved:
            self.screen.tell(f"The game is in {file} already.")
            return
        try:
            save_records(added[0], [added[1]])
        except OSError as error:
            raise BadInput(f"{file!r} cannot be written: {error.strerror or error}") from None
        self._saved.append(added)
        self.screen.tell(f"The game was added to {file}.")

    def _end(self, text: str, winner: int | None, termination: str = "") -> None:
        self.ending = Ending(winner, termination)
        self.screen.tell(text)

    def _end_by_rules(self) -> None:
        """Tells the result for the person, with the margin if the game has a score."""
        state = self.state
        result = state.returns()[self.person]
        by = f" by {abs(state.final_score()):g}" if result and has_own(state.game.rules, "final_score") else ""
        text = f"You win{by}." if result > 0 else f"You lose{by}." if result < 0 else "A draw."
        self._end(text, None if result == 0 else self.person if result > 0 else 1 - self.person)


def _value_of(suggestion: Suggestion) -> float | None:
    """Returns the value of the position for the player to move; None if the agent does not know one."""
    best = suggestion.moves[0] if suggestion.moves else None
    return suggestion.value if best and (best.visits or best.proven) else None
