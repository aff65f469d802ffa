"""Tests of the public interface: names in `azero`, shipped configs, and an example."""

import subprocess
import sys
import types

import pytest

import azero
from azero.config.reading import _PLACES, find_config, load_config
from azero.config.text import settings
from azero.games import make_game

PUBLIC = {
    *(
        "Agent",
        "Analysis",
        "BadInput",
        "Game",
        "MatchResult",
        "Move",
        "State",
        "Suggestion",
        "TimeControl",
        "__version__",
    ),
    *("GumbelRoot", "Puct", "Search", "SearchResult", "SearchTree", "VisitsRoot"),
    *("Card", "Checkpoint", "load_checkpoint", "new_checkpoint", "save_checkpoint"),
    *(
        "Callback",
        "Comparison",
        "Config",
        "Games",
        "RunView",
        "StopTraining",
        "compare_runs",
        "load_config",
        "load_games",
        "train",
    ),
    "to_openspiel_bot",
    *("GameReview", "MoveReview", "Record", "Reviewer", "read_records", "save_records"),
    *("make_agent", "make_game", "play_match", "play_timed_match", "publish", "rate", "Ratings", "registered_games"),
}
CONFIGS = sorted(path.stem for place in _PLACES for path in place.glob("*.toml"))


def test_the_public_names_are_these_and_all_are_there():
    assert set(azero.__all__) == PUBLIC and len(azero.__all__) == len(PUBLIC)
    assert azero.__all__ == sorted(azero.__all__)
    assert set(dir(azero)) == PUBLIC
    for name in azero.__all__:
        assert getattr(azero, name) is not None


def test_nothing_else_is_public():
    others = {name for name, value in vars(azero).items() if not isinstance(value, types.ModuleType)} - PUBLIC
    assert {name for name in others - {"TYPE_CHECKING"} if not name.startswith("_")} == set()


@pytest.mark.parametrize("name", sorted(PUBLIC - {"__version__"}))
def test_every_public_name_is_documented(name):
    assert (getattr(azero, name).__doc__ or "").strip()


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import azero.cli", "numpy"),
        ("import azero.cli", "typer"),
        ("import azero", "numpy"),
        ("from azero import load_config, make_agent, play_match, Search", "torch"),
    ],
)
def test_importing_azero_is_light(statement, heavy):
    code = f"{statement}\nimport sys\nprint({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_what_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="module 'azero' has no attribute 'Searcher'"):
        azero.Searcher  # noqa: B018


def test_the_example_of_the_design_runs():
    game = azero.make_game("connect_four(rows=6,columns=7)")
    state = game.new_initial_state()
    agent = azero.make_agent("uct@200", game=game, seed=0, threads=1)
    suggestion = agent.suggest(state)
    assert suggestion.simulations == 200 == agent.suggest(state, simulations=200).simulations
    assert suggestion.elapsed_s > 0 and -1 <= suggestion.value <= 1
    best = suggestion.moves[0]
    assert suggestion.best == best.move == game.action_to_text(state, best.action)
    assert game.text_to_action(state, "4") == 3 and game.action_to_text(state, 3) == "4"
    assert best.visits > 0 and best.prior == pytest.approx(1 / 7) and best.proven is None and best.pv[0] == best.move
    assert agent.suggest(state, seconds=0.05).simulations > 200


def test_bad_input_is_a_value_error():
    with pytest.raises(azero.BadInput):
        azero.make_game("chess")
    assert issubclass(azero.BadInput, ValueError)


@pytest.mark.parametrize("name", CONFIGS)
def test_configs_that_come_with_azero_load(name):
    config = load_config(find_config(name))
    assert make_game(config.game.name)
    azero.make_agent(config.evaluation.opponent, config.game.name).close()
    assert config.gate.games % 2 == 0


def test_configs_that_the_readme_names_are_there():
    assert {"smoke", "tic_tac_toe", "connect_four_quick", "connect_four"} <= set(CONFIGS)


@pytest.mark.parametrize(
    ("section", "key", "field"), [pytest.param(*each, id=".".join(each[:2])) for each in settings()]
)
def test_every_setting_has_a_sentence_that_says_what_it_does(section, key, field):
    words = (field.description or "").split()
    assert len(words) >= 3 and words[-1].endswith(".")
    assert words[0][0].isupper() or words[0][0] == "`" or words[:2] == ["a", "of"]
