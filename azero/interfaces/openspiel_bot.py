"""azero's agents as OpenSpiel's bots."""

from typing import Any

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import RESIGN
from azero.errors import BadInput
from azero.games import State
from azero.games.openspiel.counterparts import Counterpart
from azero.games.openspiel.library import import_openspiel


def to_openspiel_bot(agent: Agent, player: int) -> Any:
    """Returns an agent as a `pyspiel.Bot`: `step`, `restart`, `inform_action`, `get_policy`, `step_with_policy`.

    After `restart` the agent begins another game of its own: its choices are drawn anew, where it draws any. The policy
    of a position is the share of visits of each move, in a search apart from that of `step`.

    Args:
      agent: of one of OpenSpiel's games, `openspiel:NAME`, or of a game of azero's that OpenSpiel has as well.
      player: the player that the bot is, 0 or 1.

    Raises BadInput if OpenSpiel is not installed or does not have the game, or if the agent may resign.
    """
    pyspiel = import_openspiel("to_openspiel_bot")
    counterpart = Counterpart(agent.game)
    if player not in (0, 1):
        raise BadInput(f"player = {player!r} should be 0 or 1")
    if agent.resign_below is not None:
        raise BadInput(f"agent {agent.name!r} may resign, but OpenSpiel's bots cannot")

    class AgentBot(pyspiel.Bot):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self._follower = _Follower(agent.apart(), counterpart, player)

        def step(self, state: Any) -> int:
            return self._follower.choose(state)

        def restart(self) -> None:
            self._follower.restart()

        def restart_at(self, state: Any) -> None:
            self._follower.restart()

        def inform_action(self, state: Any, player_id: int, action: int) -> None:
            """Does nothing: the states of the next steps tell all actions."""

        def provides_policy(self) -> bool:
            return True

        def get_policy(self, state: Any) -> list[tuple[int, float]]:
            return self._follower.policy(state)

        def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
            return self.get_policy(state), self.step(state)

    return AgentBot()


class _Follower:
    """Plays an agent's game in one slot, along the states that OpenSpiel shows."""

    def __init__(self, agent: Agent, counterpart: Counterpart, player: int):
        self._agent, self._counterpart, self._player = agent, counterpart, player
        self._num_games = 0
        self._history: list[int] | None = None  # OpenSpiel's actions of the game in the slot; None: none has begun

    def restart(self) -> None:
        self._history = None

    def choose(self, shown: Any) -> int:
        """Returns OpenSpiel's action in a position of OpenSpiel's."""
        state, player = self._follow(shown), self._agent.player
        (action,) = player.choose([0])
        if action == RESIGN:
            raise BadInput(f"agent {self._agent.name!r} resigns, but OpenSpiel's bots cannot")
        return self._counterpart.their_action(state, shown, action)

    def policy(self, shown: Any) -> list[tuple[int, float]]:
        """Returns each legal action of OpenSpiel's with its probability."""
        state = self._follow(shown)
        moves = self._agent.suggest(state).moves
        weights = {each.action: float(each.visits) for each in moves}
        if not sum(weights.values()):
            weights = {each.action: each.prior for each in moves}
        total = sum(weights.values())
        return [
            (self._counterpart.their_action(state, shown, action), weights.get(action, 0.0) / total)
            for action in state.legal_actions()
        ]

    def _follow(self, shown: Any) -> State:
        """Plays on to the position that OpenSpiel shows, or begins a game there. Returns it as a state."""
        self._counterpart.check_is_of(shown.get_game())
        if shown.current_player() != self._player:
            raise BadInput(f"this bot plays for player {self._player}, but it is the turn of {shown.current_player()}")
        player, history = self._agent.player, list(shown.history())
        if self._history is None or self._history != history[: len(self._history)]:
            player.start(1, [self._agent.game.new_initial_state()], self._num_games)
            self._num_games += 1
            self._history = []
        num_played, self._history = len(self._history), None  # unknown, if this is interrupted
        position = self._counterpart.theirs.new_initial_state()
        state = self._agent.game.new_initial_state()
        for ply, action in enumerate(history):
            own = self._counterpart.own_action(state, position, action)
            if ply >= num_played:
                player.advance(0, own)
            state.apply_action(own)
            position.apply_action(action)
        self._history = history
        return state
