"""Tests of KataGo's analysis engine: answers, errors as JSON, priorities, ends, other games, and a net with heads."""

import contextlib
import json
import re
import time

import numpy as np
import pytest
import torch

from azero.compiler.jit import IS_COMPILED
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.interfaces.engines.analysis import Analysis
from azero.interfaces.engines.gtp import Gtp
from azero.nets.architectures.heads import all_outputs
from azero.nets.checkpoint import write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.make import make_net

from .controller import Controller, malformed, stand_malformed

needs_speed = pytest.mark.skipif(not IS_COMPILED, reason="plain Python is slow")
MOVE_FIELDS = {"move", "visits", "winrate", "prior", "lcb", "utility", "order", "pv", "scoreLead"}


@pytest.fixture
def controller():
    """Returns a function that starts an engine. All of them have to end."""
    with contextlib.ExitStack() as stack:

        def start(name="uct@30", game="go(size=5)", quits_at_once=False):
            game = game and make_game(game)
            return stack.enter_context(contextlib.closing(Controller(Analysis, name, game, quits_at_once)))

        yield start


def ask(script, number=1, **query):
    """Sends a query; returns so many lines of answers."""
    script.send(json.dumps(query))
    return [json.loads(script.line()) for _ in range(number)]


def test_turns_are_answered_as_katago_does(controller):
    script = controller()
    ask(script, 2, id="first", moves=[], rules="chinese")  # with a warning, once
    answers = ask(
        script,
        3,
        id="foo",
        initialStones=[["B", "E5"], ["B", "A1"]],
        moves=[["W", "C5"], ["b", "b3"]],
        rules="tromp-taylor",
        komi=7.5,
        boardXSize=5,
        boardYSize=5,
        analyzeTurns=[0, 1, 2],
        includePolicy=True,
        includeOwnership=True,
        maxVisits=20,
    )
    assert [each["turnNumber"] for each in answers] == [0, 1, 2]
    assert [each["rootInfo"]["currentPlayer"] for each in answers] == ["W", "B", "W"]
    for answer in answers:
        assert answer["id"] == "foo" and answer["isDuringSearch"] is False
        assert answer["moveInfos"][0].keys() >= MOVE_FIELDS and answer["rootInfo"]["visits"] >= 20
        assert [each["order"] for each in answer["moveInfos"]] == list(range(len(answer["moveInfos"])))
        policy = np.array(answer["policy"])
        assert len(policy) == 26 and (policy[policy > -1]).sum() == pytest.approx(1) and policy[4] == -1


def test_values_are_for_whoever_is_named(controller):
    script = controller()
    moves = [["W", point] for point in ("A1", "B2", "C3", "D4", "E5", "A3", "C1", "E3", "C5")]  # White's board
    roots = {}
    for side in ("BLACK", "WHITE", "SIDETOMOVE"):
        settings = {"reportAnalysisWinratesAs": side}
        script.send(json.dumps({"id": side, "moves": moves, "maxVisits": 60, "overrideSettings": settings}))
        while "rootInfo" not in (answer := json.loads(script.line())):
            pass
        roots[side] = answer["rootInfo"]["winrate"]
    assert roots["BLACK"] == roots["SIDETOMOVE"] < 0.3 and roots["WHITE"] == pytest.approx(1 - roots["BLACK"])


def test_the_query_of_katrain(controller):
    """By katrain/core/engine.py, with a net that keeps no score."""
    script = controller("uct@30", "go(size=5)")
    far = [f"{letter}{number}" for letter in "ABCDE" for number in range(1, 6) if letter != "C"]
    query = {
        **{"id": "QUERY:1", "rules": "japanese", "priority": 1, "analyzeTurns": [1], "maxVisits": 25, "komi": 6.5},
        **{"boardXSize": 5, "boardYSize": 5, "includeOwnership": True, "includeMovesOwnership": True},
        **{"includePolicy": True, "initialStones": [], "initialPlayer": "B", "moves": [["B", "C3"]]},
        "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": 8.0, "wideRootNoise": 0.04},
        "avoidMoves": [{"moves": far, "player": "W", "untilDepth": 1}],
        "reportDuringSearchEvery": 1,
    }
    answers = ask(script, 4, **query)
    warned = {each.get("field") for each in answers}
    assert {"rules", "scoreLead", "overrideSettings"} <= warned and "error" not in str(answers)
    moves = {each["move"] for each in answers[-1]["moveInfos"]}
    assert moves and moves <= {"C1", "C2", "C4", "C5", "pass"} and answers[-1]["rootInfo"]["scoreLead"] == 0.0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"moves": 3}, "moves"),
        ({"moves": [["B", "Z9"]]}, "moves"),
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves"),
        ({"moves": [["X", "C3"]]}, "moves"),
        ({"moves": [], "boardXSize": "5"}, "boardXSize"),
        ({"moves": [], "boardXSize": 40, "boardYSize": 40}, "boardXSize"),
        ({"moves": [["B", "pass"], ["W", "pass"]] * 1000}, "moves"),
        ({"moves": [], "komi": 6.3}, "komi"),
        ({"moves": [], "komi": 1e308}, "komi"),
        ({"moves": [], "komi": 10**400}, "komi"),
        ({"moves": [], "analyzeTurns": [2]}, "analyzeTurns"),
        ({"moves": [], "analyzeTurns": [0], "priorities": [1, 2]}, "priorities"),
        ({"moves": [], "maxVisits": 0}, "maxVisits"),
        ({"moves": [], "overrideSettings": [1]}, "overrideSettings"),
        ({"moves": [], "overrideSettings": {"reportAnalysisWinratesAs": []}}, "overrideSettings"),
        ({"moves": [], "overrideSettings": {"maxTime": 10**400}}, "overrideSettings"),
        ({"moves": [], "reportDuringSearchEvery": -1}, "reportDuringSearchEvery"),
        ({"moves": [], "includePolicy": 1}, "includePolicy"),
        ({"moves": [], "avoidMoves": [{"player": "B"}]}, "avoidMoves"),
        ({"moves": [], "allowMoves": [{"player": "B", "moves": ["Q99"], "untilDepth": 1}]}, "allowMoves"),
        ({"moves": [], "initialStones": [["B", "pass"]]}, "initialStones"),
        ({"action": "dance"}, "action"),
        ({"action": "terminate"}, "terminateId"),
    ],
)
def test_what_is_wrong_with_a_query_is_told_as_json(shared, query, field):
    (answer,) = ask(shared, id="wrong", **query)
    assert answer.keys() == {"error", "field", "id"} and answer["field"] == field and answer["id"] == "wrong"


def test_what_katago_takes_is_taken(shared):
    def answers(**query):
        said = ask(shared, id="r", moves=[], **query)
        while "rootInfo" not in said[-1]:
            said.append(json.loads(shared.line()))
        return said

    answers()  # with a warning that there is no score
    for rules in ("stone_scoring", "frob", {"scoring": "TERRITORY"}):
        assert answers(rules=rules)[0]["field"] == "rules"
    for rules in ("Tromp_Taylor", "nz", '{"scoring": "AREA"}'):
        assert len(answers(rules=rules)) == 1
    others = [{"player": "B", "moves": [f"{a}{b}" for a in "ABCDE" for b in "12345"] + ["pass"], "untilDepth": 1}]
    assert answers(avoidMoves=others)[0]["moveInfos"] == [], "none is left"


@pytest.fixture(scope="module")
def shared():
    with contextlib.closing(Controller(Analysis, "uct@10", make_game("go(size=5)"))) as script:
        yield script


def test_visits_along_the_principal_variations(controller):
    script = controller("uct@2000")
    answer = ask(script, 2, id="v", moves=[["B", "C3"]], rules="chinese", includePVVisits=True)[-1]
    for move in answer["moveInfos"]:
        visits = move["pvVisits"]
        assert len(visits) == len(move["pv"]) and visits[0] == move["visits"] and visits == move["pvEdgeVisits"]
        assert visits == sorted(visits, reverse=True)
    assert answer["moveInfos"][0]["pvVisits"][1] > 1
    with contextlib.closing(Controller(Gtp, "uct@2000", make_game("go(size=5)"))) as go:
        line = go.report("kata-analyze b 100 pvVisits true")
    pv, visits = re.fullmatch(r"info move .*? pv ([^a-z]*) pvVisits ([0-9 ]+)(?: info .*)?", line).groups()
    assert len(pv.split()) == len(visits.split())


def test_actions(controller):
    script = controller("uct@1000000000")
    assert ask(script, id="v", action="query_version")[0].keys() == {"id", "action", "version", "git_hash"}
    assert ask(script, id="m", action="query_models")[0]["models"][0]["name"] == "uct@1000000000"
    assert ask(script, id="c", action="clear_cache") == [{"id": "c", "action": "clear_cache"}]
    for name in ("long", "later", "other"):
        script.send(json.dumps({"id": name, "moves": [], "rules": "chinese"}))
    answers = ask(script, 3, id="t", action="terminate", terminateId="later")
    assert {"id": "later", "isDuringSearch": False, "noResults": True, "turnNumber": 0} in answers
    answers = []
    script.send(json.dumps({"id": "all", "action": "terminate_all"}))
    while {"long", "other"} - {each["id"] for each in answers}:
        answers.append(json.loads(script.line()))
    assert next(each for each in answers if each["id"] == "long")["moveInfos"], "it was being searched"


@needs_speed
def test_priorities_and_reports_during_the_search(controller):
    script = controller("uct")
    queries = [("a", 0, 40_000), ("b", 1, 10), ("c", 2, 10)]
    for name, priority, visits in queries:
        more = {"reportDuringSearchEvery": 0.1} if name == "a" else {}
        script.send(json.dumps({"id": name, "moves": [], "priority": priority, "maxVisits": visits, **more}))
    answers = []
    while {"a", "b", "c"} - {each["id"] for each in answers if each.get("isDuringSearch") is False}:
        answers.append(json.loads(script.line()))
    last = [each["id"] for each in answers if each.get("isDuringSearch") is False]
    assert last == ["a", "c", "b"] and any(each.get("isDuringSearch") for each in answers)


def test_other_games_and_their_ends(controller):
    script = controller("uct@20", "tic_tac_toe")
    won = [["B", "a1"], ["W", "b1"], ["B", "a2"], ["W", "b2"], ["B", "a3"]]
    answers = ask(script, 2, id="x", moves=won, analyzeTurns=[4, 5], includePolicy=True)
    by_turn = {each["turnNumber"]: each for each in answers}
    assert by_turn[4]["moveInfos"][0]["move"] == "A3" and by_turn[4]["rootInfo"]["winrate"] == 1.0
    assert by_turn[5]["moveInfos"] == [] and by_turn[5]["rootInfo"]["winrate"] == 1.0
    assert "scoreLead" not in by_turn[4]["rootInfo"] and len(by_turn[4]["policy"]) == 9


def test_the_end_of_input_waits_for_the_answers_or_not(controller):
    for quits_at_once, number in ((False, 3), (True, 0)):
        script = controller("uct@1000" if number else "uct@1000000000", quits_at_once=quits_at_once)
        script.send(json.dumps({"id": "x", "moves": [["B", "C3"], ["W", "B2"]], "analyzeTurns": [0, 1, 2]}))
        time.sleep(0.05)
        begin = time.perf_counter()
        script.hang_up()
        script.thread.join(60.0)
        assert not script.thread.is_alive() and (number or time.perf_counter() - begin < 1.0)
        said = [json.loads(script.line()) for _ in range(script.output.lines.qsize())]
        assert sum("moveInfos" in each for each in said) == number


COMMANDS = [
    '{"id": "a", "moves": [["B", "C3"]], "rules": "chinese", "komi": 5.5, "analyzeTurns": [0, 1], "priority": 3}',
    '{"id": "t", "action": "terminate", "terminateId": "a"}',
    '{"id": "m", "moves": [], "allowMoves": [{"player": "B", "moves": ["C3", "pass"], "untilDepth": 1}]}',
]


def answer_all(script, lines):
    for line in lines:
        script.send(line, '{"id": "end of it", "action": "query_version"}')
        while "git_hash" not in (answer := json.loads(script.line())):
            assert {"error", "warning", "id"} & answer.keys(), (line, answer)


def test_malformed_lines_get_json(controller):
    answer_all(controller("uct@3"), [*malformed(1, 300, COMMANDS), "[" * 50_000, '{"id":' * 9000, "1" * 6000, "NaN"])


def test_numbers_that_json_has_not_and_many_turns_end_nothing(controller):
    script = controller("uct@1000000000")
    for number in ("NaN", "1e999", "-Infinity"):
        script.send(f'{{"id": "n", "action": "clear_cache", "x": {number}}}')
        assert "could not parse" in json.loads(script.line())["error"]
    ask(script, id="many", moves=[], rules="chinese", analyzeTurns=[0] * 5000)
    begin = time.perf_counter()
    ask(script, id="t", action="terminate_all", turnNumbers=list(range(1, 100_000)))
    assert time.perf_counter() - begin < 5.0
    ask(script, id="e", action="terminate_all")


@pytest.mark.long
def test_ten_thousand_malformed_lines_cost_no_memory(controller):
    stand_malformed(answer_all, controller("uct@3"), COMMANDS)


@pytest.fixture(scope="module")
def net_with_heads(tmp_path_factory):
    """The checkpoint of a small net that has learnt whose each stone's point is, and so the score, by 200 steps."""
    torch.manual_seed(0)
    game = make_game("go(size=5,komi=0.5)")
    config = NetConfig(
        blocks=1, channels=8, policy_channels=2, value_channels=2, value_hidden=8, heads=("ownership", "score")
    )
    net = make_net(config, game)
    rng, planes, owners = np.random.default_rng(0), [], []
    for _ in range(200):
        state = game.new_initial_state()
        for _ in range(rng.integers(2, 14)):
            state.apply_action(int(rng.choice(state.legal_actions())))
            if state.is_terminal():
                break
        planes.append(state.planes())
        owners.append(planes[-1][0] - planes[-1][1])  # the player to move's stones, and the opponent's
    batch, truth = torch.from_numpy(np.stack(planes)), torch.from_numpy(np.stack(owners))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(200):
        found = all_outputs(net, batch)
        loss = ((found["ownership"].reshape(truth.shape) - truth) ** 2).mean()
        loss = loss + ((found["score"].ravel() - truth.sum((1, 2))) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    path = tmp_path_factory.mktemp("heads") / "net.safetensors"
    write_checkpoint(path, net.eval(), Card(str(game), config.model_dump(mode="json"), {}))
    return path


OWNERSHIP = {"includeOwnership": True, "includeMovesOwnership": True}


@pytest.mark.slow
def test_ownership_and_score_of_a_net_that_keeps_them(controller, net_with_heads):
    script = controller(f"{net_with_heads}@20", None)
    stones = [["B", point] for point in ("A1", "B2", "C3", "D4", "E5")]
    (answer,) = ask(script, id="o", initialStones=stones, moves=[], initialPlayer="W", komi=0.5, **OWNERSHIP)
    owners = np.array(answer["ownership"]).reshape(5, 5)
    assert np.diag(np.fliplr(owners)).max() < -0.3 < owners[0, 0], "they are White's, who is to move"
    assert np.mean(answer["moveInfos"][0]["ownership"]) < 0.3 and len(answer["moveInfos"][0]["ownership"]) == 25
    assert answer["rootInfo"]["scoreLead"] < -1.0 and answer["moveInfos"][0]["scoreLead"] < -0.5
    with contextlib.closing(Controller(Gtp, f"{net_with_heads}@20")) as go:
        for point in ("A1", "B2", "C3", "D4", "E5"):
            go.ask(f"play b {point}")
        line = go.report("kata-analyze w 5 ownership true rootInfo true")
        assert "scoreLead -" in line and len(line.partition("ownership ")[2].split()) == 25
        line = go.report("kata-analyze w 5 movesOwnership true maxmoves 1")
        assert len(line.partition(" movesOwnership ")[2].split()) == 25
        go.ask("time_settings 60 0 0")
        assert (
            "scoreLead" in go.ask("kata-genmove_analyze b 5 ownership true") and go.ask("time_settings 0 0 0") == "= "
        )
        assert go.ask("undo") == "= "
        assert len(go.ask("azero-ownership b").split()) == 26 and "dboard/" in go.ask("gogui-analyze_commands")
