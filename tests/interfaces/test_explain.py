"""Tests of `azero explain`: its numbers add up, and are those of the search that the agent makes."""

import itertools
import json
import math
import re

import pytest
from command_line import assert_bad_input

from azero.arena.agents.make import make_agent

POSITION = ("--game", "connect_four", "--moves", "4453")


def tables(text):
    """Yields the tables of printed selections: lists of rows, whose cells have the names of their columns."""
    for table in re.split(r"\n +move(?= +N)", text)[1:]:
        heading, *lines = table.splitlines()
        rows = itertools.takewhile(lambda line: re.match(r" {10}[> ] \S+ +\d+ +\S+ +\S+ ", line), lines)
        cells = [line[12:].split() for line in rows]
        yield [dict(zip(["move", *heading.split()], row, strict=False)) for row in cells]


def test_printed_terms_of_uct_add_up_to_its_scores(run_azero):
    code, text, _ = run_azero("explain", "uct(c=0.8)", *POSITION, "--simulations", "60")
    assert code == 0 and "c = 0.8" in text and len(re.findall(r"\nsimulation \d", text)) == 60
    scored = [row for table in tables(text) for row in table if row["score"] != "-"]
    assert len(scored) > 60
    for row in scored:
        assert float(row["score"]) == pytest.approx(float(row["Q"]) + float(row["U"]), abs=2e-4)


def test_simulations_are_those_of_the_agent(run_azero):
    _, lines, _ = run_azero("explain", "uct", *POSITION, "--simulations", "1000", "--json", "--seed", "5")
    done = [json.loads(line) for line in lines.splitlines()]
    agent = make_agent("uct@1000", "connect_four", seed=5)
    expected = {move.move: move.visits for move in agent.suggest(agent.game.state_from_moves("4453")).moves}
    first = [each["path"][0] for each in done if each["path"]]
    assert {move: first.count(move) for move in expected} == expected


def test_gumbel_root_begins_with_the_moves_that_noise_and_priors_choose(run_azero):
    words = ("explain", "tic_tac_toe", "--moves", "b2 a1", "--root", "gumbel", "--simulations", "12")
    code, lines, errors = run_azero(*words, "--json")
    assert code == 0, errors
    evaluated, *done = map(json.loads, lines.splitlines())
    assert evaluated["path"] == [] and len(done) == 12
    for each in done:
        halving = each["halving"]
        chosen = halving["children"][halving["chosen"]]
        nearest = [child for child in halving["children"] if child["is_nearest"]]
        assert chosen in nearest and chosen["score"] == max(child["score"] for child in nearest)
        assert chosen["move"] == each["path"][0] and chosen["N"] == halving["visits"]
        for child in halving["children"]:
            assert child["score"] == pytest.approx(child["g"] + child["logit"] + child["sigma"], abs=1e-5)
            assert child["logit"] == pytest.approx(math.log(child["P"]), rel=1e-3)
    _, text, _ = run_azero(*words, "--first", "12")
    (table,) = list(tables(text))[:1]
    assert float(table[0]["score"]) == pytest.approx(
        sum(float(table[0][name]) for name in ("g", "logit", "sigma")), abs=3e-4
    )


def test_a_proven_position_ends_the_search(run_azero):
    code, text, _ = run_azero(
        "explain", "uct", "--game", "tic_tac_toe", "--moves", "b2 a1 b1 c1", "--simulations", "900"
    )
    assert code == 0 and text.endswith("the result of the position is proven, so the search is over\n")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("uct", "--game", "tic_tac_toe", "--first", "11"), "--first 11 comes after the last of 10"),
        (("uct", "--game", "tic_tac_toe", "--moves", "b2 a1 b1 c1 b3"), "the game is over"),
        (("uct", "--game", "tic_tac_toe", "--root", "gumbel"), "a Gumbel root needs a net"),
        (("random", "--game", "tic_tac_toe"), "has no tree"),
        (("uct(table=300)", "--game", "tic_tac_toe"), "has no tree"),
        (("tic_tac_toe(root=gumbel)",), "another root than visits; leave out its option root"),
    ],
)
def test_bad_input(run_azero, words, part):
    assert_bad_input(run_azero("explain", *words), part)
