"""Tests of pools: which games they play, that they go on where they stopped, and their file."""

import json
from functools import partial

import pytest

from azero.arena.agents.checkpoints import identity_of_agent
from azero.arena.agents.make import make_agent
from azero.arena.agents.specs import spec_of
from azero.arena.matches.match import play_match
from azero.arena.matches.results import GameResult, Interrupted
from azero.arena.matches.specs import play_matches
from azero.arena.ratings import rating_pool
from azero.arena.ratings.file import MatchId, Pair, pairs_of, read_matches, write_matches
from azero.arena.ratings.rating_pool import RatingPool, rate
from azero.errors import BadInput, EngineFailed
from azero.games import make_game

from .agents import write_checkpoint, write_engine
from .pools import Shuffled

GAME = make_game("tic_tac_toe")
NAMES = ["uct@30", "random", "uct@5"]


def pool_of(*names, seed=0, path=None, workers=None):
    return RatingPool(GAME, names or NAMES, lambda name, own: spec_of(name, GAME, own), seed, path, workers)


def pairs_in(path):
    """Returns the pairs of the only match in a file."""
    [(match_id, pairs)] = read_matches(path, "tic_tac_toe").items()
    return match_id, pairs


def test_the_order_is_found_and_games_are_counted():
    ratings = rate(NAMES, GAME, 120)
    assert [each.name for each in ratings.agents] == ["uct@30", "uct@5", "random"]
    assert ratings.games == 120 and sum(each.games for each in ratings.agents) == 240
    assert ratings.anchor == "uct@30" and ratings.agents[0].elo == 0 == ratings.agents[0].elo_ci95[1]
    assert 0.5 < ratings.first_player_score < 1
    for each in ratings.agents:
        assert each.elo_ci95[0] <= each.elo <= each.elo_ci95[1]


def test_a_seed_settles_the_games_in_any_order_of_agents(tmp_path):
    paths = [tmp_path / name for name in ("one", "same", "other")]
    for path, names, seed in zip(paths, (NAMES, NAMES[:2][::-1] + NAMES[2:], NAMES), (3, 3, 4), strict=True):
        pool_of(*names, seed=seed, path=path).play(2)
    (first, one), (second, same), (_, other) = map(pairs_in, paths)
    assert (first, one) == (second, same) and one[0].key != other[0].key


def test_more_games_go_on_and_as_many_play_none(tmp_path, monkeypatch):
    path = tmp_path / "ratings.json"
    pool_of(path=path).play(20)
    data = path.read_bytes()
    again = pool_of(path=path)
    assert again.num_games == 20
    monkeypatch.setattr(rating_pool, "play_matches", None)  # a game would fail
    again.play(20)
    again.play(7)
    assert path.read_bytes() == data
    monkeypatch.undo()
    again.play(31)
    assert pool_of(path=path).num_games == 32
    for match_id, pairs in read_matches(path, "tic_tac_toe").items():
        assert [pair.number for pair in pairs] == list(range(len(pairs))), match_id


def test_a_later_pair_is_that_of_a_longer_match():
    """So an interrupted match has the same games when it goes on."""
    agents = [make_agent(name, GAME, 1) for name in ("uct@10", "random")]
    whole = play_match(*agents, GAME, 12, 5).results
    assert play_match(*agents, GAME, 4, 5, first_pair=2).results == whole[4:8]


def test_what_an_interruption_left_out_is_played_first(tmp_path, monkeypatch):
    """Long games would be missing otherwise."""
    path = tmp_path / "ratings.json"
    pool = pool_of("uct@5", "random", path=path)

    def stopped(*given):
        [match] = play_matches(*given)
        early_end = Interrupted("stopped")
        early_end.result = type(match)(**{**vars(match), "results": [each for each in match.results if each.pair != 1]})
        raise early_end

    monkeypatch.setattr(rating_pool, "play_matches", stopped)
    with pytest.raises(Interrupted):
        pool.play(8)
    assert 1 not in [pair.number for pair in pairs_in(path)[1]]
    monkeypatch.undo()
    pool_of("uct@5", "random", path=path).play(8)
    pool_of("uct@5", "random", path=tmp_path / "whole").play(8)
    assert pairs_in(path) == pairs_in(tmp_path / "whole")


def test_all_pairs_that_workers_play_of_one_match_are_kept(tmp_path):
    path = tmp_path / "ratings.json"
    pool_of("uct@5", "random", path=path).play(8)
    match_id, pairs = pairs_in(path)
    write_matches(path, "tic_tac_toe", {match_id: [pair for pair in pairs if pair.number == 3]})
    pool_of("uct@5", "random", path=path, workers=Shuffled()).play(8)
    assert pairs_in(path) == (match_id, pairs)


def test_games_go_on_after_pairs_that_another_process_left_out(tmp_path, monkeypatch):
    path = tmp_path / "ratings.json"
    pool = pool_of("uct@5", "random", path=path)
    pool.play(2)
    pool_of("uct@5", "random", path=tmp_path / "other").play(8)
    match_id, pairs = pairs_in(tmp_path / "other")
    write_matches(path, "tic_tac_toe", {match_id: pairs[3:]})
    played = []

    def counted(*given):
        played.append(1)
        assert len(played) < 100, "it plays the same pair again and again"
        return play_matches(*given)

    monkeypatch.setattr(rating_pool, "play_matches", counted)
    monkeypatch.setattr(rating_pool, "batch_size", lambda *_: 1)
    pool.play(12)
    assert pool.num_games == 12


def test_games_of_another_process_are_kept(tmp_path):
    path = tmp_path / "ratings.json"
    one, other = (pool_of("uct@5", "random", seed=seed, path=path) for seed in (0, 1))
    for pool in (one, other):
        pool.play(4)
    assert [pool_of("uct@5", "random", seed=seed, path=path).num_games for seed in (0, 1)] == [4, 4]


def test_an_engine_that_fails_loses_no_finished_game(tmp_path):
    path = tmp_path / "ratings.json"
    pool = pool_of("random", "uct@5", write_engine(tmp_path, "dies@2"), path=path)
    with pytest.raises(EngineFailed, match="the match ended after"):
        pool.play(60)
    assert pool.num_games == sum(2 * len(pairs) for pairs in read_matches(path, "tic_tac_toe").values()) >= 2
    assert len(pool.ratings("random").agents) == 3


def test_pairs_that_repeat_each_other_count_once(tmp_path):
    ratings = []
    for num in (1, 9):
        pairs = [Pair(k, 1.0, 1.0, "0" * 16) for k in range(num)]
        write_matches(tmp_path / "m", "tic_tac_toe", {MatchId("random", "uct@5", 0): pairs})
        ratings.append(pool_of("random", "uct@5", path=tmp_path / "m").ratings("random"))
    assert [each.elo for each in ratings[0].agents] == [each.elo for each in ratings[1].agents]
    assert [each.games for each in ratings] == [2, 18]


def test_pairs_are_whole():
    results = [GameResult(0, True, (1,), 1.0), GameResult(1, True, (2,), 0.0), GameResult(1, False, (3,), 0.5)]
    [pair] = pairs_of(results)
    assert (pair.number, pair.begun, pair.answered, pair.score) == (1, 0.0, 0.5, 0.25)


def test_a_net_is_known_by_its_file_not_by_its_name(tmp_path):
    path, ratings = write_checkpoint(tmp_path / "net.safetensors"), tmp_path / "ratings.json"
    name = f"{path}(solve_nodes=0)@2"
    pool_of(name, "random", path=ratings).play(4)
    moved = path.rename(tmp_path / "other.safetensors")
    assert identity_of_agent(f"{moved}@2").endswith("@2")
    assert pool_of(f"{moved}(solve_nodes=0)@2", "random", path=ratings).num_games == 4
    assert pool_of(f"{moved}(solve_nodes=0)@3", "random", path=ratings).num_games == 0
    write_checkpoint(path, seed=1)
    new = pool_of(name, "random", path=ratings)
    assert new.num_games == 0
    new.play(2)
    assert pool_of(f"{moved}(solve_nodes=0)@2", "random", path=ratings).num_games == 4, "old games stay in the file"


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ([], {"game": GAME}, "a pool needs two agents or more, and this one has none"),
        (["random"], {"game": GAME}, "a pool needs two agents or more, and this one has random"),
        (["random", "uct@5", "random"], {"game": GAME}, "agent 'random' is named twice"),
        (["random", "utc@5"], {"game": GAME}, "unknown agent 'utc'"),
        (["a.safetensors", "b.safetensors"], {}, "are the same net"),
        (["a.safetensors", "hex.safetensors"], {}, r"plays hex\(size=3\), not tic_tac_toe"),
        (["random", "uct@5"], {}, "can play any game"),
        (["random", "uct@5"], {"game": GAME, "games": 0}, "games = 0 should be 1 or more"),
        (["random", "uct@5"], {"game": GAME, "anchor": "mc"}, "anchor = 'mc' should be an agent of the pool"),
        (["random", "uct@5"], {"game": GAME, "seed": -1}, "seed = .* should be 0 or more, and less than 2"),
        (["random", "uct@5"], {"game": GAME, "seed": 1 << 63}, "seed = .* should be 0 or more, and less than 2"),
        (["random", "uct@5"], {"game": GAME, "out": "."}, "cannot be read: Is a directory"),
    ],
)
def test_a_pool_that_cannot_be(tmp_path, monkeypatch, names, options, message):
    monkeypatch.chdir(tmp_path)
    for name, game in (("a", "tic_tac_toe"), ("b", "tic_tac_toe"), ("hex", "hex(size=3)")):
        write_checkpoint(tmp_path / f"{name}.safetensors", game)
    with pytest.raises(BadInput, match=message):
        rate(names, **options)


MATCH = {"a": "random", "b": "uct@5", "seed": 0, "pairs": [[0, 1.0, 0.5, "0123456789abcdef"]]}
FILE = {"format": 1, "game": "tic_tac_toe", "matches": [MATCH]}


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps(FILE))
    matches = read_matches(path, "tic_tac_toe")
    assert matches == {MatchId("random", "uct@5", 0): [Pair(0, 1.0, 0.5, "0123456789abcdef")]}
    write_matches(path, "tic_tac_toe", matches)
    assert read_matches(path, "tic_tac_toe") == matches and json.loads(path.read_text()) == FILE


changed = partial(dict, MATCH)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        ([1], "should have a format, a game and matches"),
        ({"game": "tic_tac_toe"}, "should have a format, a game and matches"),
        ({**FILE, "format": 2}, "has format 2; this version of azero reads format 1"),
        ({**FILE, "game": "hex(size=3)"}, r"has games of hex\(size=3\), not of tic_tac_toe"),
        ({**FILE, "game": None}, "is damaged"),
        ({**FILE, "matches": [MATCH, MATCH]}, "is damaged: match 1"),
        *(
            ({**FILE, "matches": [match]}, "is damaged: match 0")
            for match in (
                *("x", changed(a="z"), changed(a=1), changed(a="a" * 5000), changed(seed=-1), changed(seed=True)),
                *(changed(pairs=pairs) for pairs in (None, [1], [[0, 1.0]], MATCH["pairs"] * 2)),
                *(changed(pairs=[[0, score, 1.0, "0" * 16]]) for score in (0.7, "1", None, [1])),
                *(changed(pairs=[[number, 1.0, 1.0, "0" * 16]]) for number in (-1, 0.0, True, 10**12)),
                changed(pairs=[[0, 1.0, 1.0, 5]]),
            )
        ),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_and_stays(tmp_path, data, message):
    path = tmp_path / "ratings.json"
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    before = path.read_bytes()
    with pytest.raises(BadInput, match=message) as error:
        pool_of("random", "uct@5", path=path)
    assert "\n" not in str(error.value) and path.read_bytes() == before
