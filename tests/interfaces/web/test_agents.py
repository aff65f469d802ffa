"""Tests of the routes of agents, suggestions, analyses and reviews."""

import contextlib
import functools
import json
import sys
import threading
import time

import pytest

from azero.arena.agents.checkpoints import shipped_checkpoints
from azero.arena.agents.make import make_agent
from azero.compiler.cache import cache_directory
from azero.compiler.elsewhere import Abandoned
from azero.errors import BadInput
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.offered.runs import runs_in
from azero.interfaces.web.searches import loaded
from azero.interfaces.web.settings import ServeSettings
from tests.arena.agents import write_engine
from tests.interfaces.web.conftest import client_of

WIN_IN_ONE = {"game": "tic_tac_toe", "moves": "b2 a1 c2 c1"}  # a2 wins


def test_nets_and_searches_are_offered(client):
    agents = {each["id"]: each for each in client.look("agents")}
    assert {*shipped_checkpoints(), "uct@1000", "random"} <= set(agents)
    assert agents["tic_tac_toe"]["kind"] == "net" and agents["tic_tac_toe"]["game"] == "tic_tac_toe"
    assert agents["uct@1000"]["game"] is None and agents["uct@1000"]["simulations"] == 1000
    assert agents["random"]["judges"] is False


def test_agents_of_a_game_play_it(client):
    found = [each["id"] for each in client.look("agents?game=hex")]
    assert "uct@1000" in found and not set(found) & set(shipped_checkpoints())


@pytest.mark.parametrize(
    ("route", "status", "code", "asked"),
    [
        *(
            ("suggestions", 404, "unknown_agent", {"agent": name, "game": "go(size=7)"})
            for name in ("gtp:echo", "uci:echo", "checkpoints/go_7x7.safetensors", "uct@5", "run:x", "", "mc")
        ),
        ("suggestions", 409, "other_game", {"agent": "tic_tac_toe", "game": "hex"}),
        *(
            (route, 409, "game_over", {"agent": "uct@1000", "game": "connect_four", "moves": "1122334"})
            for route in ("suggestions", "analyses")
        ),
        ("reviews", 422, "no_moves", {"agent": "uct@1000", "game": "hex"}),
        ("reviews", 409, "no_judge", {"agent": "random", "game": "hex", "moves": "a1"}),
        *(
            ("suggestions", 422, "invalid", {"agent": "tic_tac_toe", "game": "tic_tac_toe", "level": level})
            for level in (0, 9, "easy", 1.5, True)
        ),
        (
            "suggestions",
            422,
            "invalid",
            {"agent": "tic_tac_toe", "game": "tic_tac_toe", "level": 1, "simulations": 5},
        ),
        ("suggestions", 409, "no_levels", {"agent": "random", "game": "tic_tac_toe", "level": 1}),
    ],
)
def test_bad_requests(client, route, status, code, asked):
    assert client.ask(route, status, **asked)["error"]["code"] == code


@pytest.mark.parametrize("agent", ["tic_tac_toe", "uct@1000", "mc@1000", "alphabeta@1000"])
def test_a_suggestion_finds_a_win(client, agent):
    found = client.ask("suggestions", agent=agent, **WIN_IN_ONE, simulations=30)
    assert found["best"] == "a2" and found["game"] == "tic_tac_toe" and found["seconds"] >= 0
    assert {"to_move", "value", "simulations", "elapsed_s", "moves"} <= set(found)
    assert client.look("agents?game=tic_tac_toe")


def test_a_seed_repeats_a_suggestion(client):
    asked = {"agent": "uct@1000", "game": "tic_tac_toe", "simulations": 50}
    one, two, other = (client.ask("suggestions", **asked, seed=seed) for seed in (1, 1, 2))
    assert one["moves"] == two["moves"] != other["moves"]


def test_limits_of_the_settings_hold():
    with client_of(ServeSettings(most_suggested=20)) as client:
        asked = {"agent": "uct@1000", "game": "tic_tac_toe"}
        for limit in ({}, {"simulations": 1000}, {"seconds": 5.0}):
            assert client.ask("suggestions", **asked, **limit)["simulations"] <= 20


def test_an_analysis_streams_stages_reports_and_an_end(client):
    events = client.events("analyses", agent="tic_tac_toe", game="tic_tac_toe", moves="b2", simulations=300)
    kinds = [event for event, _ in events]
    assert kinds[-1] == "done" and kinds.count("done") == 1 and "error" not in kinds
    assert [data["stage"] for event, data in events if event == "stage"][-1] == "searching"
    last = [data for event, data in events if event == "update"][-1]
    assert last["is_last"] and last["simulations"] >= 300 and last["moves"] and last["simulations_per_s"] > 0
    assert events[-1][1] == {"reason": "simulations"}


def test_outcomes_agree_with_the_value(client):
    asked = {"agent": "tic_tac_toe", "game": "tic_tac_toe", "moves": "b2 a1 a2", "seconds": 0.2}
    for _ in range(300):
        last = client.events("analyses", **asked)[-2][1]
        if last["outcomes"]:
            break
        time.sleep(0.1)  # another thread still loads what it needs
    wins, draws, losses = last["outcomes"]
    assert abs(wins + draws + losses - 1) < 0.001
    assert abs((wins - losses) + last["value"]) < 0.001, "the second player moves"


def test_an_analysis_ends_when_the_result_is_proven(client):
    events = client.events("analyses", agent="uct@1000", **WIN_IN_ONE)
    assert events[-1] == ("done", {"reason": "proven"}) and events[-2][1]["moves"][0]["proven"] == "win"
    assert events[-2][1]["outcomes"] is None


def test_an_analysis_ends_in_time(client):
    events = client.events("analyses", agent="uct@1000", game="connect_four", seconds=0.2, interval=0.05)
    assert events[-1] == ("done", {"reason": "seconds"})
    assert 0.15 < events[-2][1]["elapsed_s"] < 1


@pytest.mark.parametrize("agent", ["random", "alphabeta@1000"])
def test_agents_without_a_tree_report_once(client, agent):
    events = client.events("analyses", agent=agent, game="tic_tac_toe", moves="b2")
    assert [event for event, _ in events if event != "stage"] == ["update", "done"]


def test_the_tree_is_kept_when_a_move_is_played(client):
    asked = {"agent": "uct@1000", "game": "connect_four"}
    events = client.events("analyses", **asked, moves="4", simulations=5000)
    best = events[-2][1]["moves"][0]["move"]
    assert client.events("analyses", **asked, moves=["4", best], simulations=10)[-2][1]["simulations"] > 50
    assert client.events("analyses", **asked, moves="4", simulations=10)[-2][1]["simulations"] >= 5000


def test_a_review_tells_each_move_and_the_whole(client):
    moves = "b2 a1 c2 c1 a3"  # a2 wins at the end, and after a3 b1 does
    events = client.events("reviews", agent="tic_tac_toe", game="tic_tac_toe", moves=moves, simulations=20)
    updates = [data for event, data in events if event == "update"]
    assert [each["ply"] for each in updates[:5]] == list(range(5)) and updates[4]["best"] == "a2"
    done = events[-1][1]
    last = {each.pop("ply"): each for each in updates}
    assert [last[ply] for ply in range(5)] == done["moves"], "a later update counts"
    assert events[-1][0] == "done" and len(done["values"]) == 6 and done["blunders"][0] >= 1
    assert [move["move"] for move in done["moves"]] == moves.split()


def test_further_searches_are_told_to_come_later():
    with client_of(ServeSettings(most_searches=0)) as client:
        response = client.post("/api/v1/suggestions", json={"agent": "random", "game": "tic_tac_toe"})
        assert response.status_code == 429 and response.headers["retry-after"]
    with client_of(ServeSettings(most_agents=1)) as client:
        context = client.app.state.context
        context.searches.agents.claim(context.catalogue.agent("random"), context.catalogue.game("hex"))
        response = client.post("/api/v1/suggestions", json={"agent": "random", "game": "tic_tac_toe"})
        assert response.status_code == 503 and response.headers["retry-after"]


def test_agents_leave_when_there_is_no_room():
    with client_of(ServeSettings(most_agents=1)) as client:
        for agent in ("random", "uct@1000", "random"):
            client.ask("suggestions", agent=agent, **WIN_IN_ONE, simulations=10)
            states = {each["id"]: each["state"] for each in client.look("agents")}
            assert {name for name, state in states.items() if state == "ready"} == {agent}


def test_agents_that_nobody_waits_for_any_more_are_not_loaded(monkeypatch):
    """A visitor who looks at many games was told once that all agents are in use, while the first was compiled."""
    begun, is_begun, gate = [], threading.Event(), threading.Event()

    def open_slowly(wanted, game, settings):
        begun.append(game.name)
        is_begun.set()
        assert gate.wait(30)
        return make_agent(wanted.name, game)

    monkeypatch.setattr(loaded, "open_agent", open_slowly)
    with client_of(ServeSettings(most_agents=2)) as client:
        context = client.app.state.context
        searches, random = context.searches, context.catalogue.agent("random")
        for game in "othello", "hex", "clobber", "gomoku":
            searches.agents.claim(random, context.catalogue.game(game)).release()
            assert is_begun.wait(30)
        claim = searches.agents.claim(random, context.catalogue.game("breakthrough"))
        gate.set()
        assert claim.loaded.made.result(30).game.name == "breakthrough"
        searches.close()
        assert begun == ["othello", "breakthrough"]


def test_loading_that_nobody_waits_for_gives_way(monkeypatch):
    begun = []

    def note(job, is_wanted, on_progress):
        begun.append(is_wanted)
        return contextlib.nullcontext()

    def open_unless_given_up(wanted, game, settings):
        while game.name == "othello":
            if not begun[0]():
                raise Abandoned
            time.sleep(0.01)
        return make_agent(wanted.name, game)

    monkeypatch.setattr(loaded, "compiled_by", note)
    monkeypatch.setattr(loaded, "open_agent", open_unless_given_up)
    with client_of() as client:
        context = client.app.state.context
        agents, random = context.searches.agents, context.catalogue.agent("random")
        first = agents.claim(random, context.catalogue.game("othello"))
        second = agents.claim(random, context.catalogue.game("hex"))
        first.release()
        assert second.loaded.made.result(30).game.name == "hex"
        assert isinstance(first.loaded.made.exception(), Abandoned)
        context.searches.close()


def test_an_agent_that_is_wanted_again_is_waited_for_again(monkeypatch):
    begun, asked, claims = [], [], []

    def note(job, is_wanted, on_progress):
        asked.append(is_wanted)
        return contextlib.nullcontext()

    def open_unless_given_up(wanted, game, settings):
        begun.append(game.name)
        is_wanted = asked[-1]
        while len(begun) < 3:
            if not is_wanted():
                if game.name == "othello":
                    claims.append(agents.claim(random, othello))
                raise Abandoned
            time.sleep(0.01)
        return make_agent(wanted.name, game)

    monkeypatch.setattr(loaded, "compiled_by", note)
    monkeypatch.setattr(loaded, "open_agent", open_unless_given_up)
    with client_of() as client:
        context = client.app.state.context
        agents, random = context.searches.agents, context.catalogue.agent("random")
        othello, hex_ = context.catalogue.game("othello"), context.catalogue.game("hex")
        first = agents.claim(random, othello)
        second = agents.claim(random, hex_)
        first.release()
        while len(begun) < 2:
            time.sleep(0.01)
        second.release()
        assert claims[0].loaded.made.result(30).game.name == "othello" and begun == ["othello", "hex", "othello"]
        context.searches.close()


def test_the_first_agent_of_the_game_on_the_page_loads_before_somebody_asks_for_it():
    with client_of() as client:
        client.get("/api/v1/games/tic_tac_toe")
        agents = "/api/v1/agents?game=tic_tac_toe"
        end = time.monotonic() + 60
        while client.get(agents).json()[0]["state"] != "ready" and time.monotonic() < end:
            time.sleep(0.05)
        assert [each["state"] for each in client.get(agents).json()[:2]] == ["ready", "cold"]
        client.app.state.context.searches.close()


def test_what_is_compiled_ahead_waits_while_somebody_waits(monkeypatch):
    begun, is_begun, gate, is_done = [], threading.Event(), threading.Event(), threading.Event()

    class Process:
        def do(self, job, is_wanted):
            begun.append(job[1][1].name)
            is_begun.set()
            while len(begun) == 1:
                if not is_wanted():
                    gate.set()
                    raise Abandoned
                time.sleep(0.01)

        def end(self):
            is_done.set()

    def note(job, is_wanted, on_progress):
        on_progress(0)
        return contextlib.nullcontext()

    def open_slowly(wanted, game, settings):
        assert game.name == "othello" or gate.wait(30)
        return make_agent(wanted.name, game)

    monkeypatch.setattr(loaded, "process_for", lambda games, nice: Process())
    monkeypatch.setattr(loaded, "compiled_by", note)
    monkeypatch.setattr(loaded, "open_agent", open_slowly)
    with client_of() as client:
        context = client.app.state.context
        agents, random = context.searches.agents, context.catalogue.agent("random")
        agents.ahead = [(random, context.catalogue.game("gomoku").game)]
        agents.claim(random, context.catalogue.game("othello"))
        assert is_begun.wait(30)
        agents.claim(random, context.catalogue.game("hex"))
        assert is_done.wait(30) and begun == ["gomoku", "gomoku"]
        context.searches.close()


def test_what_compiles_ahead_keeps_no_speeds(monkeypatch, tmp_path):
    """It runs at low priority, while others have the machine."""
    cache_directory()  # whose kernels this process reads
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path))
    catalogue = Catalogue()
    for name in "tic_tac_toe", "uct@1000":
        loaded.compile_ahead(catalogue.agent(name), catalogue.game("tic_tac_toe").game, ServeSettings())
    assert not (tmp_path / "runtimes").exists()


def test_agents_of_the_command_line_have_short_ids():
    catalogue = Catalogue(["uct(c=2)@50", "tic_tac_toe@10", "checkpoints/othello_6x6.safetensors", "gtp:nothing there"])
    assert {"uct(c=2)@50", "tic_tac_toe@10", "othello_6x6", "program:gtp", "random"} <= set(catalogue.agents)
    assert catalogue.agents["program:gtp"].kind == "program" and "connect_four" not in catalogue.agents


def test_an_agent_is_told_by_the_name_that_commands_take_if_it_tells_no_more():
    given = ["uct(c=2)@50", "uct(c=2)@60", "tic_tac_toe@10", "checkpoints/othello_6x6.safetensors", "gtp:secret there"]
    with client_of(catalogue=Catalogue(given)) as client:
        names = {each["id"]: each["name"] for each in client.look("agents")}
    assert [names[each] for each in ("uct(c=2)@60", "tic_tac_toe@10")] == ["uct(c=2)", "tic_tac_toe"]
    assert names["othello_6x6"] is names["program:gtp"] is None


def test_what_does_not_load_is_bad_input(tmp_path):
    for name in ("uct@x", "uct(c=much)", "random@5", "no_such_net", str(tmp_path)):
        with pytest.raises(BadInput):
            Catalogue([name])
    with pytest.raises(BadInput, match=r"has no run"):
        runs_in(tmp_path)


def test_an_agent_plays_at_levels(client):
    agents = {each["id"]: each for each in client.look("agents?game=tic_tac_toe")}
    levels = agents["tic_tac_toe"]["levels"]
    assert [each["level"] for each in levels] == list(range(1, len(levels) + 1)) and levels[0]["name"] == "Beginner"
    assert agents["tic_tac_toe"]["adaptive"]["level"] == "adaptive" and agents["tic_tac_toe"]["adaptive"]["text"]
    assert agents["random"]["levels"] is agents["random"]["adaptive"] is None
    asked = {"agent": "tic_tac_toe", **WIN_IN_ONE}
    assert client.ask("suggestions", **asked, level=len(levels))["best"] == "a2"
    for level in (1, "adaptive"):
        one, two = (client.ask("suggestions", **asked, level=level, seed=7) for _ in range(2))
        assert one["best"] == two["best"] == one["moves"][0]["move"]
    drawn = {
        client.ask("suggestions", agent="tic_tac_toe", game="tic_tac_toe", level=1, seed=k)["best"] for k in range(8)
    }
    assert len(drawn) > 1, "a beginner does not always play the same move"


def test_an_agent_that_does_not_load_leaves_no_thread(monkeypatch):
    def fail(*_, **__):
        raise BadInput("it does not start")

    monkeypatch.setattr("azero.interfaces.web.searches.loaded.make_agent", fail)
    with client_of(catalogue=Catalogue(["gtp:cat"])) as client:
        [program] = [each["id"] for each in client.look("agents") if each["kind"] == "program"]
        for _ in range(3):
            client.ask("suggestions", 422, agent=program, game="tic_tac_toe")
        deadline = time.monotonic() + 5
        while (
            left := [each for each in threading.enumerate() if each.name == "program"]
        ) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left


def test_an_engine_that_has_ended_is_started_again(tmp_path):
    with client_of(catalogue=Catalogue([write_engine(tmp_path, "dies@2")])) as client:
        [program] = [each["id"] for each in client.look("agents") if each["kind"] == "program"]
        asked = {"agent": program, "game": "tic_tac_toe"}
        assert client.ask("suggestions", **asked, moves="a1")["best"] == "b1"
        assert "the engine ended" in client.ask("suggestions", 422, **asked, moves="b2")["error"]["message"]
        assert client.ask("suggestions", **asked, moves="a1")["best"] == "b1"
        client.app.state.context.searches.close()


@pytest.mark.parametrize(
    "name",
    [
        "gtp:cat /dev/null --password=hush",
        "gtp:hush --password=hush",
        "gtp(patience=hush):cat --password=hush",
        "uci(Password=hush,patience=0.5):sh -c 'echo uciok; echo readyok; cat' --password=hush",
        f"gtp:{sys.executable} -c 'import hush'",
    ],
)
def test_no_error_tells_the_command_of_a_program(name, capfd):
    with client_of(catalogue=Catalogue([name])) as client:
        [program] = [each["id"] for each in client.look("agents") if each["kind"] == "program"]
        asked = {"agent": program, "game": "tic_tac_toe"}
        answer = json.dumps(client.ask("suggestions", 422, **asked, moves="a1"))
        assert program in answer and "password" not in answer.lower()
        with client.stream("POST", "/api/v1/analyses", json=asked) as response:
            events = response.read().decode()
        assert '"error"' in events and "password" not in events.lower()
        client.app.state.context.searches.close()


def test_an_agent_at_a_level_is_not_offered():
    for name in ("uct(level=3)", "tic_tac_toe(level=1)"):
        with pytest.raises(BadInput, match="plays at a level; leave it out: the page has all levels"):
            Catalogue([name])


def test_a_server_that_ends_cancels_what_nets_are_asked_aside():
    with client_of() as other:
        searches = other.app.state.context.searches
        other.ask("suggestions", agent="tic_tac_toe", game="tic_tac_toe", simulations=1)
        [(_, loaded)] = searches.agents._loaded.items()
        searches.close()
        assert loaded.draws(loaded.made.result().game.new_initial_state()).cancelled()


def test_a_server_that_ends_closes_its_agents(monkeypatch):
    closed = []
    with client_of() as other:
        searches = other.app.state.context.searches
        for game in ("tic_tac_toe", "hex"):
            other.ask("suggestions", agent="random", game=game)
        for _, loaded in searches.agents._loaded.items():
            agent = loaded.made.result()
            monkeypatch.setattr(agent, "close", functools.partial(closed.append, agent.game.name))
        searches.close()
        searches.close()
        searches.agents.wait()
        assert sorted(closed) == ["hex", "tic_tac_toe"]


def test_an_agent_is_ready_for_the_games_that_it_was_loaded_for():
    with client_of() as client:
        client.ask("suggestions", agent="uct@1000", game="tic_tac_toe", simulations=1)
        states = [client.look(f"agents?game={game}") for game in ("tic_tac_toe", "connect_four")]
        assert [next(a["state"] for a in some if a["id"] == "uct@1000") for some in states] == ["ready", "cold"]


def test_runs_are_offered_beside_what_is_included(tmp_path):
    (tmp_path / "config.toml").touch()
    assert set(shipped_checkpoints()) <= set(Catalogue(runs=[tmp_path]).agents)
    assert not set(shipped_checkpoints()) & set(Catalogue([str(tmp_path)]).agents)


def test_one_agent_can_be_asked_for(client):
    found = client.look("agents/tic_tac_toe?game=tic_tac_toe")
    assert found in client.look("agents?game=tic_tac_toe")
    assert client.look("agents/uct@1000")["game"] is None
    assert client.get("/api/v1/agents/nobody").json()["error"]["code"] == "unknown_agent"
    assert client.get("/api/v1/agents/tic_tac_toe?game=hex").json()["error"]["code"] == "other_game"


def test_an_agent_s_own_limit_in_seconds_holds():
    with client_of(catalogue=Catalogue(["uct@0.2s", "uct@7"])) as client:
        assert {each["simulations"] for each in client.look("agents") if each["kind"] == "uct"} == {0, 7, 1000}
        found = client.ask("suggestions", agent="uct@0.2s", game="go")
        assert found["simulations"] < 20_000 and found["elapsed_s"] < 5
        assert client.ask("suggestions", agent="uct@0.2s", game="go", simulations=5)["simulations"] == 5
        client.app.state.context.searches.close()
