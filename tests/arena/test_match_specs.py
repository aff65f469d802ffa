"""Tests of matches in parts: whoever plays them, the games are those of a match in one process."""

from dataclasses import replace

import pytest

from azero.arena.agents.make import make_agent
from azero.arena.agents.specs import OpenAgents, make_from, spec_of
from azero.arena.matches import specs
from azero.arena.matches.match import play_match
from azero.arena.matches.results import Interrupted
from azero.arena.matches.specs import MatchPart, MatchSpec, play_matches, play_part, split
from azero.arena.matches.statistics import Sprt
from azero.errors import BadInput
from azero.games import make_game
from azero.system.worker_pool import local_workers

from .agents import write_checkpoint, write_engine
from .pools import Shuffled

GAME = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    return [str(write_checkpoint(folder / f"{seed}.safetensors", seed=seed)) for seed in (0, 1)]


def match_of(a, b, num_games=20, seed=0, **more):
    return MatchSpec(spec_of(a, GAME, seed), spec_of(b, GAME, seed + 1), num_games, seed, **more)


def alone(a, b, num_games=20, seed=0, **more):
    """Returns the match as one process plays it."""
    return play_match(make_agent(a, GAME, seed), make_agent(b, GAME, seed + 1), GAME, num_games, seed, **more)


def as_counted(match):
    return (match.results, match.sprt, match.simulations_a, match.simulations_b, match.a, match.b, match.game)


@pytest.mark.parametrize("size", [2, 6, 64])
def test_the_games_of_two_nets_do_not_depend_on_how_a_match_is_split(nets, monkeypatch, size):
    """An odd number of games leaves a part with one game. Its net sees the same passes as in a larger part."""
    names = f"{nets[0]}@20", f"{nets[1]}(resign=-0.9)@12"
    whole = alone(*names, 21, keeps_thoughts=True)
    monkeypatch.setattr(specs, "_GAMES_OF_NETS", size)
    (match,) = play_matches([match_of(*names, 21, keeps_thoughts=True)], Shuffled())
    assert as_counted(match) == as_counted(whole) and len(match.results) == 21


@pytest.mark.parametrize("names", [("uct@30", "mc@20"), ("random", "uct(prove=false)@25")])
def test_the_games_of_searches_without_a_net_do_not_depend_on_it(names):
    first = alone(*names, 13, first_pair=5)
    (match,) = play_matches([match_of(*names, 13, first_pair=5)], Shuffled())
    assert as_counted(match) == as_counted(first)


def test_worker_processes_play_the_same_games(nets):
    """Two matches at once: of nets, and of others. Progress counts every game once."""
    pairs, heard = [(f"{nets[0]}@8", f"{nets[1]}@8"), ("uct@20", "random")], []
    with local_workers(2) as workers:
        matches = play_matches([match_of(*names, 40) for names in pairs], workers, lambda num, _: heard.append(num))
    assert [as_counted(match) for match in matches] == [as_counted(alone(*names, 40)) for names in pairs]
    assert sum(heard) == 80


@pytest.mark.parametrize(("names", "decision"), [(("uct@200", "random"), "accept"), (("random", "uct@200"), "reject")])
def test_an_sprt_decides_by_whole_pairs_in_order_and_stops_the_rest(names, decision):
    sprt, pool = Sprt(0, 200), Shuffled()
    whole = alone(*names, 200, sprt=sprt)
    (match,) = play_matches([match_of(*names, 200, sprt=sprt)], pool)
    assert as_counted(match) == as_counted(whole) and match.sprt == decision
    assert len(match.results) <= 64 and pool.done <= 100


def test_with_little_memory_fewer_games_are_played_at_once_and_they_are_the_same(monkeypatch):
    names = "uct(prove=false)@300", "uct(prove=false)@290"
    whole = alone(*names, 40)
    monkeypatch.setattr("azero.mcts.search.tree_search._MEMORY_OF_ALL_TREES", 1 << 21)
    assert make_agent(names[0], GAME).player.most_slots == 3
    (match,) = play_matches([match_of(*names, 40)], Shuffled())
    assert as_counted(match) == as_counted(alone(*names, 40)) == as_counted(whole)


def test_ctrl_c_keeps_the_finished_parts():
    with pytest.raises(Interrupted, match="stopped after 6 of 20 games") as end:
        play_matches([match_of("uct@20", "random")], Shuffled(most=3))
    result = end.value.result
    whole = alone("uct@20", "random").results
    assert len(result.results) == 6 and all(each in whole for each in result.results)
    with pytest.raises(Interrupted) as end:
        play_matches([match_of("uct@20", "random")], Shuffled(most=0))
    assert end.value.result is None


def test_the_parts_of_a_match_are_its_games_and_no_part_is_in_two_blocks():
    parts = list(split(4, match_of("uct@20", "random", 901, first_pair=3), GAME))
    assert [number for part in parts for number in range(part.first, part.stop)] == list(range(6, 907))
    assert {part.match for part in parts} == {4} and {part.slots for part in parts} == {128}
    assert all((part.first - 6) // 128 == (part.stop - 7) // 128 for part in parts)
    assert all(len(part.openings) == (part.stop + 1 - part.first) // 2 for part in parts)


def test_a_program_plays_where_it_is(tmp_path):
    """No worker may run it: the match is played in this process although there is a pool."""
    pool = Shuffled(most=0)
    (match,) = play_matches([match_of(write_engine(tmp_path), "random", 2)], pool)
    assert match.tally.games == 2 and pool.done == 0


def test_agents_stay_open_between_parts_and_are_two_even_if_they_are_alike(nets):
    spec, agents = spec_of(f"{nets[0]}@4", GAME), OpenAgents(2)
    a, b = agents.pair(spec, spec)
    assert a is not b and agents.pair(spec, spec) == (a, b)
    agents.pair(spec_of("random", GAME), spec_of("uct@9", GAME))
    assert agents.pair(spec, spec)[0] is not a, "only two are open"
    agents.close()


def test_a_part_whose_net_arrives_damaged_is_not_played(nets):
    spec = spec_of(f"{nets[0]}@4", GAME)
    damaged = replace(spec, files=(replace(spec.files[0], data=b"other"),))
    with pytest.raises(BadInput, match="other bytes"):
        play_part((MatchSpec(damaged, spec, 2),), MatchPart(0, 0, 2, 2, ((), ())), lambda num: None)
    assert make_from(spec).name == spec.name
