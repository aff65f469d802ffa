"""Tests of resumed runs: which settings can change, which are refused, and which reset parts of the run."""

from pathlib import Path

import pytest
from games.user_games import NIM, forget_files, write_file
from selfplay.games import random_games

from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import identity_of
from azero.games.user.trust import trust_file
from azero.runs.folder import BEGINNING, STATE
from azero.runs.metrics import write_metrics
from azero.runs.shards import save_shard
from azero.runs.state import Progress
from azero.selfplay.tasks import Identities, PlayPlan, SizedSeeds, play_task
from azero.training.learning.trainer import Trainer
from azero.training.loop import train_run
from azero.training.resuming import check_progress, check_same_game, keep_settings, open_run
from azero.training.run import Run, save_state

from .runs import tiny_config
from .test_run import CONFIG, GAME, files, save_shards


def keep(run, progress):
    keep_settings(run, progress, Trainer(run.config, run.game))


def test_settings_come_back_from_the_folder(run):
    assert open_run(run.folder, []) == load_config(run.folder / "config.toml") == CONFIG
    assert open_run(run.folder, ["training.iterations=9"]).training.iterations == 9
    assert open_run(run.folder, []) == CONFIG, "opening a run should save nothing"


@pytest.mark.parametrize(
    "override",
    [
        *("seed=6", "net.blocks=2", "training.optimizer=sgd"),
        *("training.ownership_loss_weight=1.5", "training.score_loss_weight=0.2"),
    ],
)
def test_what_the_run_is_cannot_change(run, override):
    name = override.partition("=")[0].removesuffix(".blocks")
    message = refusal(run, override)
    assert name in message and message.endswith("cannot change when it is resumed; begin another with --run")


def test_a_head_s_weight_can_change_but_the_head_stays(tmp_path):
    game = make_game("othello(size=4)")
    config = tiny_config(game={"name": str(game)}, training={"score_loss_weight": 0.1})
    run = Run.create(tmp_path / "run", config, game)
    assert open_run(run.folder, ["training.score_loss_weight=0.2"]).training.score_loss_weight == 0.2
    assert "score head" in refusal(run, "training.score_loss_weight=0")


@pytest.mark.parametrize(
    ("override", "shards"),
    [
        ("training.iterations=9", ["00001-0000", "00002-0000"]),
        ("selfplay.num_workers=3", ["00001-0000", "00002-0000"]),
        ("selfplay.parallel_games=3", ["00001-0000", "00002-0000"]),
        ("selfplay.num_simulations=9", ["00001-0000"]),
        ("search.c_puct=3", ["00001-0000"]),
    ],
)
def test_settings_are_kept_and_games_that_other_settings_began_are_not(run, override, shards):
    save_shards(run, "00001-0000", "00002-0000")
    config = open_run(run.folder, [override])
    keep(Run(run.folder, config, GAME), Progress(iteration=2, shards=["00001-0000"]))
    assert open_run(run.folder, []) == config != CONFIG
    assert sorted(path.stem for path in (run.folder / "replay").iterdir()) == shards


def test_shards_that_a_repair_needs_stay(run):
    save_shards(run, "00001-0000", "00001-0001", "00002-0000")
    beginning = Progress(iteration=2, shards=["00001-0000", "00001-0001"])
    save_state(run.folder, CONFIG, Trainer(CONFIG, GAME), beginning)
    (run.folder / STATE).rename(run.folder / BEGINNING)
    config = open_run(run.folder, ["search.c_puct=3"])
    keep(Run(run.folder, config, GAME), Progress(iteration=2, shards=["00001-0001", "00002-0000"]))
    assert len(list((run.folder / "replay").iterdir())) == 3


def has_played(run):
    save_state(run.folder, CONFIG, Trainer(CONFIG, GAME), Progress(iteration=4))


def has_lost_its_state(run):
    write_metrics(run.metrics_path, {"iteration": 1})


@pytest.mark.parametrize(
    ("prepare", "override", "message"),
    [
        *(
            (lambda run: save_shards(run, "00001-0000"), f"{name}=typo", "typo")
            for name in ("evaluation.opponent", "evaluation.benchmark", "training.lessons")
        ),
        (
            has_played,
            "training.iterations=2",
            "^training.iterations = 2 is less than the 3 that run '.*run' has played; ",
        ),
        (
            has_lost_its_state,
            "training.iterations=9",
            "^run .*run. has played, but its state.safetensors is missing; azero check-run .* --repair may mend it$",
        ),
    ],
)
def test_a_run_that_is_refused_keeps_its_settings_and_its_files(run, prepare, override, message):
    prepare(run)
    before = files(run.folder)
    with pytest.raises(BadInput, match=message):
        train_run(run.folder, open_run(run.folder, [override, "selfplay.num_simulations=9"]), is_resuming=True)
    assert files(run.folder) == before and open_run(run.folder, []) == CONFIG


def test_settings_that_were_changed_by_hand_are_named_and_the_run_stops(run):
    save_state(run.folder, CONFIG, Trainer(CONFIG, GAME), Progress())
    assert open_run(run.folder, []) == CONFIG
    path = run.folder / "config.toml"
    kept = path.read_text()
    path.write_text(
        kept.replace("\nlearning_rate = 0.02", "\nlearning_rate = 0.5").replace("c_puct = 1.25", "c_puct = 2")
    )
    message = refusal(run, "training.iterations=9")
    assert "has search.c_puct = 2.0, and the run was saved with 1.25 (and 1 more); undo that" in message
    path.write_text(f"# mine\n{kept}")  # a comment is no setting
    assert open_run(run.folder, []) == CONFIG


def test_a_change_of_settings_that_was_killed_between_its_two_files_is_undone(run, monkeypatch):
    """The state then fits the old config.toml and the new one."""
    old = (run.folder / "config.toml").read_bytes()
    config = open_run(run.folder, ["search.c_puct=3"])
    keep(Run(run.folder, config, GAME), Progress())
    assert open_run(run.folder, []) == config
    (run.folder / "config.toml").write_bytes(old)
    assert open_run(run.folder, []) == CONFIG
    save_state(run.folder, config, Trainer(config, GAME), Progress())  # as soon as the run has gone on
    assert "has search.c_puct = 1.25, and the run was saved with 3.0; undo" in refusal(run)


@pytest.mark.parametrize(("wanted", "says"), [(4, ""), (3, "has played its 3 iterations, and there is nothing to do")])
def test_a_run_that_is_over_says_so_and_how_to_go_on(run, capsys, wanted, says):
    run.config = tiny_config(training={"iterations": wanted})
    check_progress(run, Progress(iteration=4, final="00003"))
    told = capsys.readouterr().err
    assert says in told and bool(says) == ("go on with --set training.iterations=N" in told)


def test_a_run_that_was_shortened_to_what_it_has_played_says_that_it_has_no_final(run, capsys):
    run.config = tiny_config(training={"iterations": 3}, gate={"final_games": 4})
    check_progress(run, Progress(iteration=4))
    assert "its 3 iterations, without a final, and there is nothing to do" in capsys.readouterr().err
    check_progress(run, Progress(iteration=4, final="00003"))
    assert "without" not in capsys.readouterr().err


def test_a_run_goes_on_by_a_config_of_its_game_alone(run):
    check_same_game(
        run.folder, tiny_config(game={"name": "connect_four"}), tiny_config(game={"name": "connect_four()"})
    )
    with pytest.raises(BadInput, match=r"^run '.*run' plays .*, and cannot continue with a config for go\(size=7\)$"):
        check_same_game(run.folder, CONFIG, tiny_config(game={"name": "go(size=7)"}))


# --- users' games ---


@pytest.fixture
def own(monkeypatch, tmp_path):
    """A run of Nim, from a file in the working folder, with its first net."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "nim.py", NIM)
    config = tiny_config(game={"name": "nim.py:Nim(heap=5)"})
    run = Run.create(tmp_path / "own", config, make_game(config.game.name))
    run.save_net(run.checkpoint_path(0), Trainer(config, run.game).candidate(), Progress(iteration=0))
    return run


def refusal(run, *overrides) -> str:
    """Returns the error, one line, with which a run is not resumed; asserts that its files do not change."""
    before = files(run.folder)
    with pytest.raises(BadInput) as error:
        open_run(run.folder, list(overrides))
    assert files(run.folder) == before and len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_a_game_s_file_that_has_changed_is_told_when_the_run_is_opened(own, capsys):
    assert open_run(own.folder, []) == own.config and capsys.readouterr().err == ""
    write_file(own.folder.parent / "nim.py", NIM, ("return WIN if state.ply & 1 else LOSS", "return WIN"))
    assert refusal(own).endswith(
        "own': game file 'nim.py' is code that you have not named, or it has changed since; if you trust it, name it "
        "first, e.g. with azero check-game 'nim.py:Nim(heap=5)'"
    )
    assert open_run(own.folder, ["game.name=nim.py:Nim(heap=5)"]) == own.config
    assert capsys.readouterr().err.startswith("azero: nim.py:Nim(heap=5) has changed since checkpoint ")


def test_a_game_s_file_of_another_shape_is_refused_when_the_run_is_opened(own):
    write_file(own.folder.parent / "nim.py", NIM, ("return 3", "return 4"))
    assert "its actions, now 4, do not have the net's shape" in refusal(own, f"game.name={own.config.game.name}")


def plan_of(run):
    return PlayPlan(run.weights_at(0), (run.config,), Identities(identity_of(run.game.rules)))


def play_games_of(run):
    return play_task(plan_of(run), SizedSeeds(0, (1, 2)), lambda num: None)


@pytest.mark.slow
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_game_s_file_that_was_moved_is_named_anew(own, monkeypatch, is_edited):
    folder, shard = own.folder.parent, play_games_of(own)
    if is_edited:  # the run has continued since, but promoted no net
        write_file(folder / "nim.py", NIM, ("return WIN if", "return 1 * WIN if"))
        own.game = make_game(own.config.game.name)
        own.save_net(own.candidate_path, Trainer(own.config, own.game).candidate(), Progress())
    (folder / "rules").mkdir()
    (folder / "nim.py").rename(folder / "rules" / "nim.py")
    forget_files(monkeypatch)
    assert refusal(own).endswith(
        "own' plays nim.py:Nim(heap=5), and there is no such file; "
        "name its new place with --set 'game.name=path/to/nim.py:Nim(heap=5)'"
    )
    save_shard(own.shard_path("00001-0000"), shard, own.game)
    config = open_run(own.folder, ["game.name=rules/nim.py:Nim(heap=5)"])
    moved = Run(own.folder, config, make_game(config.game.name))
    keep(moved, None)
    assert moved.load_replay(Progress(shards=["00001-0000"])).num_learnt > 0
    assert moved.game.name == config.game.name == "rules/nim.py:Nim(heap=5)" and open_run(own.folder, []) == config


def test_games_of_other_rules_are_refused(own, monkeypatch):
    save_shard(own.shard_path("00001-0000"), random_games(own.game, 2), own.game)
    write_file(Path("nim.py"), NIM, ("return WIN if", "return LOSS if"))
    forget_files(monkeypatch)
    edited = Run(own.folder, own.config, make_game(own.config.game.name))
    with pytest.raises(
        BadInput, match="positions are not those of its games; if the rules have changed, begin another"
    ):
        edited.load_replay(Progress(shards=["00001-0000"]))


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_run_goes_on_from_another_folder(own, monkeypatch, tmp_path, is_moved):
    folder = own.folder
    (tmp_path / "other").mkdir()
    if is_moved:  # the project moves, with game and run
        (tmp_path / "project").mkdir()
        (tmp_path / "nim.py").rename(tmp_path / "project" / "nim.py")
        folder = folder.rename(tmp_path / "project" / "own")
    monkeypatch.chdir(tmp_path / "other")
    forget_files(monkeypatch)
    config = open_run(folder, [])
    assert config.game.name == f"{folder.parent / 'nim.py'}:Nim(heap=5)"
    before = files(folder)
    keep(Run(folder, config, make_game(config.game.name)), None)
    assert files(folder) == before
    config = open_run(folder, ["training.iterations=9"])
    keep(Run(folder, config, make_game(config.game.name)), None)
    assert open_run(folder, []) == config
    monkeypatch.chdir(folder.parent)
    assert open_run(folder, []).game == own.config.game


def test_a_run_goes_on_by_its_own_game_where_another_of_that_name_is_nearer(own, monkeypatch, tmp_path, capsys):
    (tmp_path / "other").mkdir()
    write_file(tmp_path / "other" / "nim.py", NIM, ("return WIN if", "return LOSS if"))
    monkeypatch.chdir(tmp_path / "other")
    forget_files(monkeypatch)
    assert open_run(own.folder, []).game.name == f"{tmp_path / 'nim.py'}:Nim(heap=5)"
    assert capsys.readouterr().err == ""
    write_file(tmp_path / "nim.py", NIM, ("return WIN if", "return DRAW if"), ("import LOSS", "import DRAW, LOSS"))
    trust_file(str(tmp_path / "nim.py"))
    assert open_run(own.folder, []).game.name == f"{tmp_path / 'nim.py'}:Nim(heap=5)"
    assert "has changed since checkpoint" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("rules/nim.py:Nim(heap=5)", [("return WIN if", "return LOSS if")], "a run's game cannot change when it is "
         "resumed, except for the place of an unchanged file; begin another with --run"),
        ("rules/nim.py:Nim(heap=6)", [], "plays nim.py:Nim(heap=5), not rules/nim.py:Nim(heap=6): heap is 5, not 6"),
        ("tic_tac_toe", [], "a run's game cannot change when it is resumed; begin another with --run"),
    ],
)  # fmt: skip
def test_a_run_s_game_cannot_change(own, monkeypatch, name, changes, message):
    (own.folder.parent / "rules").mkdir()
    write_file(own.folder.parent / "rules" / "nim.py", NIM, *changes)
    forget_files(monkeypatch)
    assert refusal(own, f"game.name={name}").endswith(message)


def test_games_are_not_played_by_rules_that_change_meanwhile(own):
    plan = plan_of(own)
    write_file(own.folder.parent / "nim.py", NIM, ("return WIN if", "return LOSS if"))
    with pytest.raises(BadInput, match=r"^nim.py:Nim\(heap=5\) has changed while it was being played; "):
        play_task(plan, SizedSeeds(0, (1, 2)), lambda num: None)
