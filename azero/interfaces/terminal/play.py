"""A game of a person against an agent, in the terminal."""

from collections.abc import Callable
from contextlib import nullcontext

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import RESIGN
from azero.errors import BadInput
from azero.games import State
from azero.games.defaults import has_own
from azero.interfaces.terminal.clocks import Clocks
from azero.interfaces.terminal.show import show_suggestion

COMMANDS = {
    "moves": "list the legal moves",
    "hint": "show what the agent would play",
    "undo": "take back your last move and the agent's answer",
    "resign": "resign the game",
    "help": "show this list",
    "quit": "leave the game",
}


def play_in_terminal(
    agent: Agent,
    start: State,
    person: int,
    ask: Callable[[str], str],
    tell: Callable[[str], None],
    clocks: Clocks | None = None,
) -> None:
    """Plays one game.

    Args:
      start: the position to begin with.
      person: the person's side, 0 or 1.
      ask: shows a prompt and returns a line; raises EOFError at the end of input.
      tell: shows text.
      clocks: of both sides; None: without clocks.
    """
    if clocks:
        agent.start_clock()
    state = start.clone()
    side = "first" if person == 0 else "second"
    tell(f"You play {side} against {agent.name}. Enter a move (e.g. {_example(state)}), or: {', '.join(COMMANDS)}")
    shown = None
    while not state.is_terminal():
        if state.history() != shown:
            tell(f"\n{state}\n" + (f"\n{clocks}\n" if clocks else ""))
            shown = state.history()
        if state.current_player() != person:
            if not _agent_moves(agent, state, tell, clocks):
                return
            continue
        try:
            with clocks.persons_turn(agent, state) if clocks else nullcontext():
                answer = ask("your move: ").strip()
        except EOFError:
            tell("\nThe game is left unfinished.")
            return
        if clocks and clocks.is_persons_time_over():
            tell("Your time is over. You lose.")
            return
        if answer in ("quit", "q"):
            tell("The game is left unfinished.")
            return
        if answer == "resign":
            tell("You resign, and lose.")
            return
        before = state
        state = _obey(answer, before, start, person, agent, tell)
        if clocks and len(state.history()) > len(before.history()):
            clocks.person_moved(before, state)
    tell(f"\n{state}\n")
    tell(_result(state, person))


def _agent_moves(agent: Agent, state: State, tell: Callable[[str], None], clocks: Clocks | None) -> bool:
    """Plays the agent's move; returns whether it made one. Otherwise the game is over."""
    suggestion = clocks.agents_move(agent, state) if clocks else agent.suggest(state)
    if clocks and clocks.agent.has_fallen:
        tell(f"{agent.name} lost on time. You win.")
        return False
    if suggestion.action == RESIGN or agent.resigns(suggestion.value):
        tell(f"{agent.name} resigns. You win.")
        return False
    tell(f"{agent.name} plays {suggestion.best} (value {suggestion.value:+z.2f} for it)")
    for action in suggestion.actions:
        state.apply_action(action)
    return True


def _result(state: State, person: int) -> str:
    """Returns the result for the person, with the margin if the game has a score."""
    result = state.returns()[person]
    by = f" by {abs(state.final_score()):g}" if result and has_own(state.game.rules, "final_score") else ""
    return f"You win{by}." if result > 0 else f"You lose{by}." if result < 0 else "A draw."


def _obey(answer: str, state: State, start: State, person: int, agent: Agent, tell: Callable[[str], None]) -> State:
    """Runs the person's command or move; returns the position after it."""
    if answer in ("help", "?", ""):
        tell(_help(state))
    elif answer == "moves":
        tell(" ".join(state.game.action_to_text(state, action) for action in state.legal_actions()))
    elif answer == "hint":
        tell(show_suggestion(agent.suggest(state), state))
    elif answer == "undo":
        before = _take_back(state, start, person)
        if before is state:
            tell("There is nothing to take back.")
        return before
    else:
        try:
            return _after_turn(state, answer)
        except BadInput as error:
            tell(f"{error}; or enter help")
    return state


def _after_turn(state: State, answer: str) -> State:
    """Returns the position after a move, or after several that form one turn, e.g. d1-d7/g7; raises BadInput."""
    after, player = state.clone(), state.current_player()
    moves = state.game.rules.split_moves(answer)
    for ply, move in enumerate(moves if len(moves) > 1 else [answer]):
        if after.current_player() != player:
            raise BadInput(f"{answer!r} continues beyond your turn, which ends with {moves[ply - 1]!r}")
        after.apply_action(state.game.text_to_action(after, move))
    return after


def _take_back(state: State, start: State, person: int) -> State:
    """Returns the position at the person's previous turn since `start`; the same position if there is none."""
    history, num_given = state.history(), len(start.history())
    for length in range(len(history) - 1, num_given - 1, -1):
        before = start.clone()
        for action in history[num_given:length]:
            before.apply_action(action)
        if before.current_player() == person:
            return before
    return state


def _help(state: State) -> str:
    """Returns the game's summary and a list of the commands."""
    about = (state.game.rules.__doc__ or state.game.name).strip().splitlines()[0]
    words = {_example(state): "play this move, or any other legal move", **COMMANDS}
    return "\n".join([about, *(f"  {word:<8}{what}" for word, what in words.items())])


def _example(state: State) -> str:
    return state.game.action_to_text(state, state.legal_actions()[0])
