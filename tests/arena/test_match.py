"""Tests of matches: pairs from one opening with colours swapped, counts, and that a seed determines the match."""

import json
from functools import partial

import pytest

from azero.arena.agents.agent import RandomAgent, RandomPlayer
from azero.arena.agents.clock import TimeControl
from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.arena.matches.results import GameResult, Interrupted, MatchResult, pair_scores, without_repeats
from azero.arena.matches.statistics import Sprt, Tally
from azero.arena.matches.timed import play_timed_match
from azero.errors import BadInput
from azero.games import make_game
from azero.system.console import warn_once

from .agents import write_checkpoint

GAME = make_game("tic_tac_toe")
STRONG, WEAK = "uct@200", "random"


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return str(write_checkpoint(tmp_path_factory.mktemp("match") / "net.safetensors"))


def play(a=STRONG, b=WEAK, num_games=20, seed=0, threads=1, **options):
    one, other = make_agent(a, GAME, seed, threads), make_agent(b, GAME, seed + 1, threads)
    return play_match(one, other, GAME, num_games, seed, **options)


def match_of(*results):
    """Returns a match with these games, each (pair, a_is_first, actions, score)."""
    return MatchResult("a", "b", "tic_tac_toe", [GameResult(*each) for each in results], 1.0, 0.1, 0.2, 3.0, 4.0)


def test_the_stronger_agent_wins():
    match = play()
    assert match.tally.score > 0.8 and match.tally.games == 20
    assert play(WEAK, STRONG).tally.score < 0.2


def test_a_pair_has_one_opening_and_both_colours():
    match = play(num_games=30)
    assert [result.pair for result in match.results] == [number // 2 for number in range(30)]
    assert [result.a_is_first for result in match.results] == [True, False] * 15
    openings = []
    for first, second in zip(match.results[::2], match.results[1::2], strict=True):
        shared = [one for one, other in zip(first.actions, second.actions, strict=False) if one == other]
        assert first.actions[:3] == second.actions[:3] and len(shared) >= 3
        openings.append(first.actions[:3])
    assert len(set(openings)) > 10


def test_results_are_those_of_the_games_as_played():
    for result in play(num_games=10).results:
        state = GAME.new_initial_state()
        for action in result.actions:
            state.apply_action(action)
        assert state.is_terminal()
        assert result.score == {1.0: 1.0, 0.0: 0.5, -1.0: 0.0}[state.returns()[0 if result.a_is_first else 1]]


def test_each_agent_plays_its_own_side():
    """With enough simulations, uct never loses tic-tac-toe, with either colour."""
    match = play("uct@3000", "random", 12, opening_plies=0)
    assert match.tally.losses == 0 and {result.a_is_first for result in match.results} == {True, False}


def test_an_odd_last_game_stands_for_its_pair():
    for num_games in (1, 7):
        match = play(num_games=num_games)
        assert match.tally.games == num_games and len(match.pair_scores) == (num_games + 1) // 2
        assert match.pair_scores[-1] == match.results[-1].score and match.results[-1].a_is_first


@pytest.mark.parametrize("name", ["uct@30", "mc@30", "net"])
def test_the_same_seed_gives_the_same_match_whatever_the_threads(name, net):
    name = f"{net}@20" if name == "net" else name
    matches = [play(name, "uct@20", 24, seed=3, threads=threads).results for threads in (1, 1, 3)]
    assert matches[0] == matches[1] == matches[2]
    assert play(name, "uct@20", 24, seed=4).results != matches[0]


def test_games_do_not_depend_on_how_many_are_played():
    assert play("uct@20", "uct@10", 10).results == play("uct@20", "uct@10", 150).results[:10]


def test_seconds_a_move_can_be_the_limit():
    match = play("mc@0.01s", "random", 2)
    assert match.seconds_a >= 0.01 > match.seconds_b and match.simulations_a > 100 and match.simulations_b == 0


def test_every_move_with_a_limit_in_seconds_has_its_simulations():
    agent = make_agent("uct@0.005s", GAME)
    agent.player.start(3, [GAME.new_initial_state()] * 3, 0)
    agent.player.choose([0, 1, 2])
    made = [agent.player.thought(slot).simulations for slot in range(3)]
    assert min(made) > 0 and sum(made) == agent.player.simulations


class Roomy(RandomPlayer):
    """Has room for three games."""

    most_slots = 3

    def start(self, num_slots, states, first_game):
        self.started = [*getattr(self, "started", []), (num_slots, len(states), first_game)]
        super().start(num_slots, states, first_game)


def test_no_more_games_at_once_than_both_agents_have_room_for():
    one, other = (RandomAgent("random", GAME, seed) for seed in range(2))
    other.player = Roomy(other)
    match = play_match(one, other, GAME, 8)
    assert match.tally.games == 8
    assert other.player.started[-3:] == [(3, 3, 0), (3, 3, 3), (3, 2, 6)]


def test_full_trees_are_counted_and_told_once(capsys):
    warn_once.cache_clear()
    small, other = make_agent("uct@200", GAME, max_nodes=12), make_agent("uct@200", GAME)
    matches = [play_match(small, other, GAME, 4, seed) for seed in range(2)]
    for match in matches:
        assert match.full_trees[0] > 4 and match.full_trees[1] == 0
        assert match.to_json()["full_trees"] == list(match.full_trees)
    warning = "azero: uct@200: its search tree had no room to grow at some moves; full_trees counts them\n"
    assert capsys.readouterr().err == warning


def test_on_games_hears_of_every_game_once():
    heard = []
    match = play(num_games=9, on_games=lambda num, tally: heard.append((num, tally)))
    assert sum(num for num, _ in heard) == 9 and heard[-1][1] == match.tally
    assert [tally.games for _, tally in heard] == [sum(num for num, _ in heard[: k + 1]) for k in range(len(heard))]


def test_ctrl_c_keeps_the_finished_games():
    def stop(finished, tally):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"stopped after \d+ of 400 games") as end:
        play(num_games=400, on_games=stop)
    result = end.value.result
    assert 1 <= result.tally.games < 400 and str(result.tally.games) in result.failure


def test_an_sprt_ends_the_match_as_soon_as_it_decides():
    match = play(num_games=600, sprt=Sprt(0, 200))
    assert match.sprt == "accept" and match.tally.games < 100 and match.tally.games % 2 == 0
    assert play(WEAK, STRONG, 600, sprt=Sprt(0, 200)).sprt == "reject"
    undecided = play("uct@20", "uct@20", 4, sprt=Sprt(0, 5))
    assert undecided.sprt is None and undecided.tally.games == 4


def test_tally_score_and_distinct_games():
    match = match_of((0, True, (1, 2), 1.0), (0, False, (1, 2), 0.0), (1, True, (1, 2), 1.0), (1, False, (3,), 0.5))
    assert match.tally == Tally(wins=2, draws=1, losses=1) and match.tally.score == 0.625
    assert match.pair_scores == [0.5, 0.75]
    fields = match.to_json()
    assert match.score == fields["score"] == 0.625 and match.elo == fields["elo"] > 80
    assert [*match.score_ci95] == fields["score_ci95"] and [*match.elo_ci95] == fields["elo_ci95"]
    won = match_of((0, True, (1,), 1.0), (0, False, (2,), 1.0)).to_json()
    assert won["elo"] is won["elo_ci95"][1] is None and won["elo_ci95"][0] < 0 and won["score"] == 1.0
    assert match.distinct_games == 3


def test_repeats_are_dropped_but_for_the_first():
    results = match_of(
        (0, True, (1, 2), 1.0), (0, False, (1, 2), 0.0), (1, True, (1, 2), 1.0), (1, False, (3,), 0.5)
    ).results
    left = without_repeats(results)
    assert len(left) == 3 and all(result in left for result in (results[0], results[1], results[3]))
    assert pair_scores(left) == [0.5, 0.5]


FIELDS = ["a", "b", "game", "games", "wins", "draws", "losses", "score", "score_ci95", "elo", "elo_ci95"]
FIELDS += ["distinct_games", "elapsed_s"]
MORE_FIELDS = ["seconds_per_move", "simulations_per_move", "full_trees", "sprt", "failure", "clock"]


def test_json_has_the_fields_of_the_design_and_then_what_each_side_spent():
    fields = json.loads(json.dumps(play(num_games=6).to_json(), allow_nan=False))
    assert list(fields) == FIELDS + MORE_FIELDS
    assert (fields["a"], fields["b"], fields["game"], fields["games"]) == (STRONG, WEAK, "tic_tac_toe", 6)
    assert fields["wins"] + fields["draws"] + fields["losses"] == 6
    low, high = fields["score_ci95"]
    assert 0 <= low <= fields["score"] <= high <= 1
    assert fields["simulations_per_move"][0] > 0 == fields["simulations_per_move"][1]


def test_what_a_side_spends_is_of_this_match_alone():
    a, b = make_agent("uct@50", GAME), make_agent("random", GAME)
    play_match(a, b, GAME, 4, opening_plies=0)
    a.limit = make_agent("uct@5", GAME).limit
    assert play_match(a, b, GAME, 4, opening_plies=0).simulations_a <= 5


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"num_games": 0}, "games = 0 should be 1 or more"),
        ({"num_games": -2}, "games = -2 should be 1 or more"),
        ({"num_games": 2, "opening_plies": -1}, "opening plies = -1 should be 0 or more"),
    ],
)
@pytest.mark.parametrize("play", [play_match, partial(play_timed_match, control=TimeControl(1.0))])
def test_numbers_out_of_range_are_refused(play, numbers, message):
    agents = make_agent("random", GAME), make_agent("random", GAME)
    with pytest.raises(BadInput, match=f"^{message}$"):
        play(*agents, GAME, **numbers)
