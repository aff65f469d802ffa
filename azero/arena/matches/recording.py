"""Records of the games of a match."""

from azero.arena.matches.results import GameResult, MatchResult
from azero.games import Game
from azero.records import Record


def records_of(match: MatchResult, game: Game) -> list[Record]:
    """Returns the records of a match's games, in order, with what the agents thought if the match kept it."""
    return [_record_of(match, result, game) for result in match.results]


def _record_of(match: MatchResult, result: GameResult, game: Game) -> Record:
    first, second = (match.a, match.b) if result.a_is_first else (match.b, match.a)
    tags = {"First": first, "Second": second, "Round": f"{result.pair + 1}.{1 if result.a_is_first else 2}"}
    if result.opening_plies:
        tags["OpeningPlies"] = str(result.opening_plies)
    record = Record.of_game(game.new_initial_state(), result.actions, **tags)
    if result.termination:
        record.award(0 if (result.score == 1.0) == result.a_is_first else 1, result.termination)
    for node, thought in zip(record.line()[result.opening_plies :], result.thoughts, strict=False):
        if thought:
            node.value, node.simulations, node.seconds = thought
    return record
