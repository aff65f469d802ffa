"""Games in the terminal by script: an agent that plays moves from a list, and a screen with a list of answers."""

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import Move, Suggestion
from azero.games import make_game
from azero.interfaces.terminal.game_so_far import GameSoFar
from azero.interfaces.terminal.play import TerminalGame

GAME = make_game("tic_tac_toe")


class Scripted(Agent):
    """Plays moves from a list. A hint is the next of them."""

    def __init__(self, moves, game):
        super().__init__("scripted", game)
        self.moves_left = moves.split()

    def suggest(self, state, simulations=None, seconds=None):
        text = self.moves_left.pop(0)
        if text == "resign":
            return Suggestion("tic_tac_toe", state.current_player(), 1, 0.0, -1.0, text, [])
        move = Move(self.game.text_to_action(state, text), text, 1, 0.5, 1.0, None, None, [text])
        return Suggestion("tic_tac_toe", state.current_player(), 1, 0.0, 0.5, text, [move])


class Script:
    """A screen with a list of answers, each a text or a function that returns one. Keeps what is shown."""

    is_coloured = False

    def __init__(self, *answers):
        self.answers, self.shown, self.prompts, self.times = list(answers), [], [], []

    def ask(self, prompt, complete, left_s=None):
        self.prompts.append(prompt)
        self.times.append(left_s)
        if not self.answers:
            raise EOFError
        answer = self.answers.pop(0)
        return answer if isinstance(answer, str) else answer()

    def tell(self, text):
        self.shown.append(text)


def run(agent, person, *answers, start=None, moves=(), clocks=None, file=None):
    """Plays by script; returns the screen."""
    screen = Script(*answers)
    TerminalGame(agent, GameSoFar(start or agent.game.new_initial_state(), moves), person, screen, clocks, file).run()
    assert not screen.answers, "the whole script should be used"
    return screen


def play(person, agent_moves, *answers, game=GAME, start=None):
    """Plays against a script; returns what is shown, without the line that a prompt at the end is left with."""
    shown = run(Scripted(agent_moves, game), person, *answers, start=start).shown
    return shown[:-1] if shown[-1] == "" else shown
