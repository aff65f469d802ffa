"""What a person may type in a game: moves, whole turns and commands, how they go on, and why one is refused."""

import difflib
from collections.abc import Callable, Iterator

from azero.errors import BadInput
from azero.games import State
from azero.games.position_text import turn_to_text
from azero.games.reasons import listed

Complete = Callable[[str], list[str]]
"""Returns the lines that may begin with what was typed."""

COMMANDS = {
    "moves": "list the legal moves",
    "hint": "show the move that the agent would play",
    "values": "show the agent's values of the moves, on the board and in a table",
    "undo": "take back your last move and the agent's answer",
    "save FILE": "write the game to a file",
    "resign": "resign the game",
    "review": "after the game, show what each move lost",
    "help": "show this list",
    "quit": "leave the game",
}
SHORT = {"?": "help", "": "help", "q": "quit", "exit": "quit"}


def command_of(answer: str, state: State) -> tuple[str, str]:
    """Returns the command and its argument, in any case; ("", "") if it is none. A legal move is not a command."""
    if answer in legal_moves(state):
        return "", ""
    word, _, argument = answer.partition(" ")
    word = SHORT.get(word.lower(), word.lower())
    known = {each.split()[0]: " " in each for each in COMMANDS}
    argument = argument.strip()
    return (word, argument) if word in known and (known[word] or not argument) else ("", "")


def legal_moves(state: State) -> list[str]:
    """Returns the legal moves in the game's notation."""
    return [state.game.action_to_text(state, action) for action in state.legal_actions()]


def read_turn(state: State, answer: str) -> list[int]:
    """Returns the actions of a move, or of several that form one turn, e.g. d1-d7/g7; raises BadInput."""
    after, player, actions = state.clone(), state.current_player(), list[int]()
    moves = state.game.rules.split_moves(answer)
    for ply, move in enumerate(moves if len(moves) > 1 else [answer]):
        if after.current_player() != player:
            raise BadInput(f"{answer!r} continues beyond your turn, which ends with {moves[ply - 1]!r}")
        actions.append(_read_move(after, move))
        after.apply_action(actions[-1])
    return actions


def _read_move(state: State, text: str) -> int:
    """Returns the legal action that a text names; in any case if the game's own notation knows only one."""
    try:
        return state.game.text_to_action(state, text)
    except BadInput:
        same = [each for each in legal_moves(state) if each.lower() == text.lower()]
        if len(same) > 1:
            raise BadInput(f"{text!r} could be {' or '.join(same)}") from None
        if not same:
            raise
        return state.game.text_to_action(state, same[0])


def explain(state: State, answer: str, error: BadInput) -> str:
    """Returns why an answer is refused, and what would be right."""
    words = [each.split()[0] for each in COMMANDS]
    if near := difflib.get_close_matches(answer.lower(), words, n=1, cutoff=0.7):
        return f"{error}; did you mean {near[0]}?"
    beginning = [line for line in continuations(state, answer) if line.lower() != answer.lower()]
    if beginning:
        return f"{answer!r} is not a whole move; it may go on as {listed(beginning)}"
    return f"{error}; or enter help"


def complete(state: State, typed: str) -> list[str]:
    """Returns the lines that begin with what was typed: commands, and moves that may be one turn."""
    words = [each.split()[0] for each in COMMANDS]
    return [*continuations(state, typed), *(word for word in words if word.startswith(typed.lower()))]


def continuations(state: State, typed: str) -> list[str]:
    """Returns turns, or beginnings of turns, that begin with what was typed and have one more action in the end."""
    return list(dict.fromkeys(_continuations(state, typed)))


def _continuations(state: State, typed: str) -> Iterator[str]:
    after, done = state.clone(), list[str]()
    for move in [*state.game.rules.split_moves(typed), ""]:
        for text in legal_moves(after):
            line = turn_to_text(state.game.rules, [*done, text])
            if line.lower().startswith(typed.lower()):
                yield line
        try:
            action = _read_move(after, move)
        except BadInput:
            return
        done.append(state.game.action_to_text(after, action))
        after.apply_action(action)
        if after.current_player() != state.current_player():
            return


def help_on(state: State) -> str:
    """Returns the game's summary and a list of the commands."""
    about = (state.game.rules.__doc__ or state.game.name).strip().splitlines()[0]
    play = {} if state.is_terminal() else {example(state): "play this move, or any other legal move"}
    words = {**play, **COMMANDS}
    return "\n".join([about, *(f"  {word:<10}{what}" for word, what in words.items())])


def example(state: State) -> str:
    """Returns a legal move."""
    return state.game.action_to_text(state, state.legal_actions()[0])
