"""The commands of GoGui and HexGui: rulers of other games, boards that are set up, and menus of analyses.

Source: the manual of GoGui; the source of HexGui.
"""

from azero.arena.agents.suggestion import Suggestion
from azero.errors import BadInput
from azero.games.defaults import has_own
from azero.games.position_text import PLAYERS
from azero.interfaces.engines.gtp_table import Refused, Table, colour
from azero.interfaces.engines.positions import player_of, points_name, stones_of, with_player, with_stones

COLOURS = ("black", "white")
"""The first and the second player."""

_ANALYZE_COMMANDS = [
    "pspairs/azero values/azero-values %c",
    "pspairs/azero visits/azero-visits %c",
    "varc/azero principal variation/azero-pv %c",
    "string/azero value/azero-value %c",
]
"""Commands that GoGui and HexGui show in a menu: the type of the answer, the label and the command."""


class GoGui(Table):
    """The commands of these programs."""

    def _do_gogui__rules_game_id(self, words: list[str]) -> str:
        return self._ruled()

    def _do_gogui__rules_board(self, words: list[str]) -> str:
        """Returns rows of X, O and `.`, the row with the highest number first."""
        self._ruled()
        game, cells = self._engine.game, stones_of(self._shown())
        width = game.planes_shape[2]
        rows = [" ".join(cells[begin : begin + width]) for begin in range(0, len(cells), width)]
        is_top_first = game.rules.text_to_action(self._engine.state.record, "a1") < width  # in azero's notation
        return "\n" + "\n".join(rows[::-1] if is_top_first else rows)

    def _do_gogui__rules_board_size(self, words: list[str]) -> str:
        kind = self._ruled()
        _, height, width = self._engine.game.planes_shape
        size = str(width) if width == height else f"{width} {height}"
        return f"{size} hex" if kind == "Hex" else size if width == height else f"{size} rect"

    def _do_gogui__rules_legal_moves(self, words: list[str]) -> str:
        self._ruled()
        state = self._engine.state
        texts = [state.game.action_to_text(state, action) for action in state.legal_actions()]
        return " ".join(self._vertices.write(text) for text in texts if text != "swap")

    def _do_gogui__rules_side_to_move(self, words: list[str]) -> str:
        self._ruled()
        return COLOURS[player_of(self._engine.state) ^ self._vertices.is_exchanged]

    def _do_gogui__rules_final_result(self, words: list[str]) -> str:
        self._ruled()
        state = self._engine.state
        if not state.is_terminal():
            return "The game is not over."
        score = state.final_score() * (-1 if self._vertices.is_exchanged else 1)
        by = f" by {abs(score):g}" if has_own(state.game.rules, "final_score") else ""
        return "Draw." if score == 0 else f"{'Black' if score > 0 else 'White'} wins{by}."

    def _ruled(self) -> str:
        """Returns GoGui's name of the game. GoGui's columns have no I in any game, so from now on ours have none."""
        name = points_name(self._engine.game)
        if name is None:
            raise Refused("the moves of this game are no points")
        self._vertices.skips_i = True
        return name

    def _do_gogui__play_sequence(self, words: list[str]) -> str:
        if len(words) % 2:
            raise Refused
        before = len(self._engine.past)
        try:
            for pair in zip(words[::2], words[1::2], strict=True):
                self._do_play(pair)
        except (Refused, BadInput):
            self._undo(len(self._engine.past) - before)
            raise
        return ""

    def _do_gogui__setup(self, words: list[str]) -> str:
        """Puts stones, pairs of colours and points, on the board as it is."""
        state, game = self._shown(), self._engine.game
        if points_name(game) is None or len(words) % 2:
            raise Refused
        cells, self._vertices.is_exchanged = stones_of(state), False  # the position that is set up has no past
        for whose, vertex in zip(words[::2], words[1::2], strict=True):
            try:
                cell = game.rules.text_to_action(state.record, self._vertices.read(vertex))
                cells[cell] = "." if whose.lower() in ("e", "empty") else PLAYERS[colour(whose)]
            except (BadInput, IndexError):
                raise Refused from None
        self._engine.set_up(with_stones(game, cells, player_of(state)))
        return ""

    def _do_gogui__setup_player(self, words: list[str]) -> str:
        player = colour(words[0] if words else "")
        if player != (state := self._shown()).current_player():
            self._engine.set_up(with_player(state, player))
        return ""

    def _do_gogui__interrupt(self, words: list[str]) -> str:
        return ""

    def _do_gogui__analyze_commands(self, words: list[str]) -> str:
        heads = self._engine.agent.at_full_strength.heads_of(self._engine.state)
        own = ["dboard/azero ownership/azero-ownership %c"] if "ownership" in heads else []
        score = ["string/azero score/final_score"] if points_name(self._engine.game) == "Go" else []
        return "\n".join([*_ANALYZE_COMMANDS, *own, *score])

    def _do_hexgui__analyze_commands(self, words: list[str]) -> str:
        return "\n".join(_ANALYZE_COMMANDS).replace("varc/", "var/")  # HexGui has no variations for a colour

    def _do_azero__values(self, words: list[str]) -> str:
        moves = [move for move in self._found(words).moves if move.visits or move.proven]
        return " ".join(f"{self._vertices.write(move.move)} {100 * move.value:+.0f}" for move in moves)

    def _do_azero__visits(self, words: list[str]) -> str:
        moves = [move for move in self._found(words).moves if move.visits]
        return " ".join(f"{self._vertices.write(move.move)} {move.visits}" for move in moves)

    def _do_azero__pv(self, words: list[str]) -> str:
        return " ".join(self._vertices.write(text) for text in self._found(words).moves[0].pv)

    def _do_azero__value(self, words: list[str]) -> str:
        found = self._found(words)
        best = self._vertices.write(found.best)
        return f"value {found.value:+.3f} for the player to move, {found.simulations} simulations, best {best}"

    def _do_azero__ownership(self, words: list[str]) -> str:
        found = self._found(words)
        if found.ownership is None:
            raise Refused("the net keeps no ownership")
        sign = 1 if found.to_move == 0 else -1  # GoGui's numbers are Black's
        return "\n" + "\n".join(" ".join(f"{sign * owner:.2f}" for owner in row) for row in found.ownership)

    def _found(self, words: list[str]) -> Suggestion:
        """Returns what the agent finds for the player whom the words name."""
        state = self._searched(words[:1])
        if state.is_terminal():
            raise Refused("the game is over")
        found = self._suggest(state)
        if not found.moves:
            raise Refused("the agent resigns")
        return found
