"""Tests of the file of a match: whoever stops it and wherever, the match goes on, and ends as if nothing had been."""

import dataclasses
import json
from pathlib import Path

import pytest

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import TimeControl
from azero.arena.agents.make import make_agent
from azero.arena.agents.suggestion import lone_move
from azero.arena.matches.match import play_match
from azero.arena.matches.results import Interrupted
from azero.arena.matches.specs import play_matches
from azero.arena.matches.statistics import Sprt
from azero.arena.matches.timed import play_timed_match
from azero.errors import BadInput
from azero.games import make_game

from .agents import write_checkpoint, write_engine
from .pools import Shuffled
from .test_match_specs import match_of

GAME = make_game("tic_tac_toe")


class Own(Agent):
    """A user's own agent. It has to define `suggest` alone."""

    def suggest(self, state, simulations=None, seconds=None):
        return lone_move(state, state.legal_actions()[-1])


def stop_after(num_games):
    """Returns what presses Ctrl-C when so many games have ended."""

    def press(num, tally):
        if tally.games >= num_games:
            raise KeyboardInterrupt

    return press


@pytest.mark.parametrize("name", ["uct@20", "net", "engine", "own", "uct(level=1)"])
def test_a_match_that_was_stopped_ends_as_an_unbroken_one(tmp_path, name):
    names = {"net": f"{write_checkpoint(tmp_path / 'net.safetensors')}@4", "engine": write_engine(tmp_path)}

    def play(num_games=12, **more):
        first = Own("own", GAME, 3) if name == "own" else make_agent(names.get(name, name), GAME)
        try:
            return play_match(first, make_agent("uct@5", GAME, 1), GAME, num_games, 7, keeps_thoughts=True, **more)
        finally:
            first.close()

    whole, file = play(), tmp_path / "match.jsonl"
    for num_games in (2, 5, 9):
        with pytest.raises(Interrupted, match=r"stopped after \d+ of 12 games"):
            play(out=file, on_games=stop_after(num_games))
    with open(file, "ab") as lines:
        lines.write(b'{"games": [{"pair": 5, "a_is')  # killed while it wrote
    heard = []
    match = play(out=file, on_games=lambda num, _: heard.append(num))
    assert match.results == whole.results and sum(heard) == 12 and heard[0] >= 9
    assert match.simulations_b > 0 and match.seconds_b > 0 and match.elapsed_s > 0
    if name == "engine":  # one game after another: no line has moves of games that were not finished
        assert match.simulations_b == whole.simulations_b
    kept = file.read_bytes()
    again = play(out=file)
    assert again.to_json() == match.to_json() and file.read_bytes() == kept, "it plays no game"
    assert play(4, out=file).results == whole.results[:4]
    assert play(16, out=file).results[:12] == whole.results


def test_an_sprt_decides_by_kept_games_as_by_others(tmp_path):
    def play(**more):
        agents = make_agent("uct@200", GAME), make_agent("random", GAME, 1)
        return play_match(*agents, GAME, 200, sprt=Sprt(0, 200), **more)

    with pytest.raises(Interrupted):
        play(out=tmp_path / "m", on_games=stop_after(20))
    match, whole = play(out=tmp_path / "m"), play()
    assert match.sprt == whole.sprt == "accept" and match.results == whole.results
    assert play(out=str(tmp_path / "m")).results == whole.results


def test_a_match_with_clocks_goes_on(tmp_path):
    def play(**more):
        agents = make_agent("random", GAME), make_agent("random", GAME, 1)
        return play_timed_match(*agents, GAME, 6, TimeControl.parse("9s"), out=tmp_path / "m", **more)

    with pytest.raises(Interrupted, match="stopped after 3 of 6 games"):
        play(on_games=stop_after(3))
    first = [json.loads(line) for line in (tmp_path / "m").read_text().splitlines()]
    match = play()
    assert [each.number for each in match.results] == list(range(6)) and len(match.time_use.used_s[0]) == 6
    assert [list(each.clocks.used_s) for each in match.results[:3]] == [
        line["games"][0]["clocks"][0] for line in first[1:]
    ]
    assert match.time_use.losses_on_time == [0, 0] and 0 < min(match.time_use.least_left_s) < 9


def test_workers_go_on_with_what_is_left(tmp_path):
    """Of a part whose games were partly finished in one process, they play the others."""
    match = dataclasses.replace(match_of("uct@20", "random"), out=tmp_path / "m")
    with pytest.raises(Interrupted):
        play_matches([match], None, stop_after(3))
    with pytest.raises(Interrupted):
        play_matches([match], Shuffled(most=2))
    heard, pool = [], Shuffled()
    [match] = play_matches([match], pool, lambda num, _: heard.append(num))
    [whole] = play_matches([match_of("uct@20", "random")])
    assert match.results == whole.results and sum(heard) == 20 and heard[0] >= 7 and pool.done <= 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": "uct@6"}, 'is of another match: a "uct@5", not "uct@6"; name another file with --out'),
        ({"seed": 1}, r"another match: seeds \[0, 0, 0\], not \[1, 0, 0\]"),
        ({"opening_plies": 2}, "another match: opening_plies 4, not 2"),
        ({"clock": True}, 'another match: clock null, not "9s"'),
    ],
)
def test_the_file_of_another_match_is_refused(tmp_path, change, message):
    def play(a="uct@5", clock=False, **more):
        agents = make_agent(a, GAME), make_agent("random", GAME)
        if clock:
            return play_timed_match(*agents, GAME, 2, TimeControl.parse("9s"), out=tmp_path / "m", **more)
        return play_match(*agents, GAME, 2, out=tmp_path / "m", **more)

    play()
    before = (tmp_path / "m").read_bytes()
    with pytest.raises(BadInput, match=message):
        play(**change)
    assert (tmp_path / "m").read_bytes() == before


def test_a_net_is_known_by_its_digest(tmp_path):
    def play(name):
        return play_match(make_agent(str(name), GAME), make_agent("random", GAME), GAME, 2, out=tmp_path / "m")

    net = write_checkpoint(tmp_path / "net.safetensors")
    play(net)
    play(net.rename(tmp_path / "moved.safetensors"))
    with pytest.raises(BadInput, match='another match: a "net:'):
        play(write_checkpoint(net, seed=1))


GAMES = '{"games": [%s], "spent": [[0, 0, 0, 0], [0, 0, 0, 0]], "elapsed_s": 1}'
FIELDS = '{"pair": %s, "a_is_first": true, "actions": [%s], "score": %s, "thoughts": %s}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (GAMES % FIELDS % (0, "4", 1.0, "[]"), None),
        (GAMES % FIELDS % (-1, "4", 1.0, "[]"), "damaged: line 2"),
        (GAMES % FIELDS % (0, '"4"', 1.0, "[]"), "damaged: line 2"),
        (GAMES % FIELDS % (0, "4", 0.7, "[]"), "damaged: line 2"),
        (GAMES % FIELDS % (0, "4", "NaN", "[]"), "damaged: line 2"),
        (GAMES % FIELDS % (0, "4", 1.0, "[[1]]"), "damaged: line 2"),
        (GAMES % '{"pair": 0}', "damaged: line 2"),
        ("[" * 100_000, "damaged: line 2"),
        ("", "damaged: line 2"),
    ],
)
def test_a_line_that_is_no_game_is_refused(tmp_path, line, message):
    def play():
        return play_match(make_agent("random", GAME), make_agent("random", GAME), GAME, 1, out=tmp_path / "m")

    play()
    file = Path(tmp_path / "m")
    file.write_text(f"{file.read_text().splitlines()[0]}\n{line}\n")
    if message is None:
        assert play().results[0].actions == (4,)
        return
    with pytest.raises(BadInput, match=message):
        play()


@pytest.mark.parametrize(
    "data", [b"", b"mine", b"mine\n", b"[]\n", b'{"format": 1}\n', b"[" * 100_000 + b"\n", b"\xff\n"]
)
def test_a_foreign_file_is_not_touched(tmp_path, data):
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(BadInput, match="is damaged, or no file of a match; move the file away, or name another"):
        play_match(make_agent("random", GAME), make_agent("random", GAME), GAME, 1, out=tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == data
