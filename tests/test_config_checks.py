"""Tests of warnings about odd settings: one line each, and none for usual settings."""

import pytest

from azero.config.checks import describe_odd_games, describe_warmup, find_oddities
from azero.config.reading import check_config

OPENINGS = {"random_opening_share": 0.5, "random_opening_plies": 9}
LOW = {"learning_rate": 1e-4, "final_learning_rate": 2e-4}


def oddities(max_plies=9, **sections):
    return find_oddities(check_config({"game": {"name": "tic_tac_toe"}, **sections}), max_plies)


@pytest.mark.parametrize(
    ("sections", "start"),
    [
        ({"selfplay": OPENINGS}, "selfplay.random_opening_plies = 9 is as long as a whole game, at most 9 plies; "),
        (
            {"training": LOW},
            "training.final_learning_rate = 0.0002 is above training.learning_rate = 0.0001, "
            "so the learning rate stays constant",
        ),
        (
            {"training": {"muon_learning_rate": 0.05, "optimizer": "adamw"}},
            "training.muon_learning_rate = 0.05 has no effect with training.optimizer = adamw",
        ),
        ({"gate": {"final_games": 7}}, "gate.final_games = 7 is odd: "),
        (
            {"training": {"lessons": "a.txt", "lessons_share": 0.001}},
            "training.lessons_share = 0.001 of training.batch_size = 256 rounds to 0 positions, "
            "so no lessons are learned",
        ),
        (
            {"training": {"lessons": "a.txt"}, "evaluation": {"benchmark": "a.txt"}},
            "evaluation.benchmark and training.lessons are the same positions",
        ),
        (
            {"search": {"proof_nodes": 9, "look_ahead": False}},
            "search.proof_nodes = 9 looks ahead, although search.look_ahead = false",
        ),
        (
            {"selfplay": {"ending_nodes": 9}, "training": {"value_lambda": 1}},
            "selfplay.ending_nodes = 9 has no effect on training with training.value_lambda = 1",
        ),
        (
            {"search": {"proof_nodes": 9, "prove": False}},
            "search.proof_nodes = 9 has no effect with search.prove = false",
        ),
        (
            {"search": {"solve_nodes": 9, "prove": False}},
            "search.solve_nodes = 9 has no effect with search.prove = false",
        ),
        ({"gate": {"games": 7}}, "gate.games = 7 is odd: the last opening is played once"),
        ({"evaluation": {"games": 3}}, "evaluation.games = 3 is odd: "),
    ],
)
def test_what_is_odd_is_told(sections, start):
    (told,) = oddities(**sections)
    assert told.startswith(start) and "\n" not in told


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"selfplay": {"root": "gumbel"}},
        {"selfplay": OPENINGS | {"random_opening_plies": 8}},
        {"selfplay": OPENINGS | {"random_opening_share": 0}},
        {"training": LOW | {"schedule": "constant"}},
        {"training": LOW | {"learning_rate": 2e-4}},
        {"evaluation": {"games": 3, "every": 0}},
    ],
)
def test_what_is_not_odd_is_not_told(sections):
    assert oddities(**sections) == []


def test_a_warmup_that_is_longer_than_the_run_is_told():
    training = check_config({"game": {"name": "x"}, "training": {"warmup_steps": 100, "iterations": 4}}).training
    (told,) = describe_warmup(training, 24)
    assert told.startswith("training.warmup_steps = 100 is longer than the run, about 96 steps; ")
    assert describe_warmup(training, 25) == []


def test_an_option_s_odd_games_are_told_by_its_name():
    assert describe_odd_games("--games", 5).startswith("--games = 5 is odd: ")
