"""A run's folder: what it refuses, that its state comes back, and that it keeps no more than it needs."""

import numpy as np
import pytest
import torch
from games.user_games import NIM, forget_files, write_file

from azero.config_files import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.games.registry import source_digest_of
from azero.nets.checkpoint import read_card
from azero.selfplay.records import save_shard
from azero.selfplay.tasks import PlayTask, play_task
from azero.training.loop import train
from azero.training.run import Progress, Run, check_iterations, open_run, shard_name
from azero.training.trainer import Trainer

from .runs import tiny_config
from .test_measure import DRAWN, LOST, WON, shard_of
from .test_trainer import sample, state_bytes

GAME = make_game("tic_tac_toe")
CONFIG = tiny_config()


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", CONFIG, GAME)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_settings_come_back_from_the_folder(run):
    assert open_run(run.folder, []) == load_config(run.folder / "config.toml") == CONFIG
    assert open_run(run.folder, ["training.iterations=9"]).training.iterations == 9
    assert open_run(run.folder, []) == CONFIG, "to look at settings keeps nothing"


@pytest.mark.parametrize(
    "override",
    [
        *("seed=6", "net.blocks=2", "training.optimizer=sgd", "training.reply_loss_weight=0.15"),
        *("training.plies_left_loss_weight=0.2", "training.short_term_loss_weight=0.3"),
        *("training.ownership_loss_weight=1.5", "training.score_loss_weight=0.2"),
    ],
)
def test_what_the_run_is_cannot_change(run, override):
    name = override.partition("=")[0].removesuffix(".blocks")
    message = refusal(run, override)
    assert name in message and message.endswith("cannot change when it is resumed; begin another with --run")


def test_a_head_s_weight_can_change_but_the_head_stays(tmp_path):
    run = Run.create(tmp_path / "run", tiny_config(training={"reply_loss_weight": 0.1}), GAME)
    assert open_run(run.folder, ["training.reply_loss_weight=0.2"]).training.reply_loss_weight == 0.2
    assert "reply head" in refusal(run, "training.reply_loss_weight=0")


@pytest.mark.parametrize(
    ("override", "shards"),
    [
        ("training.iterations=9", ["00001-0000", "00002-0000"]),
        ("selfplay.num_simulations=9", ["00001-0000"]),
        ("search.c_puct=3", ["00001-0000"]),
    ],
)
def test_settings_are_kept_and_games_that_other_settings_began_are_not(run, override, shards):
    save_shards(run, "00001-0000", "00002-0000")
    config = open_run(run.folder, [override])
    Run(run.folder, config, GAME).keep_settings(Progress(iteration=2, shards=["00001-0000"]))
    assert open_run(run.folder, []) == config != CONFIG
    assert sorted(path.stem for path in (run.folder / "replay").iterdir()) == shards


@pytest.mark.parametrize(("override", "left"), [("search.c_puct=3", 0), ("replay.reanalysed_share=0.9", 2)])
def test_old_positions_that_other_settings_began_to_search_are_searched_anew(run, override, left):
    names = ["00001-0000", "00001-0001"]
    for name, searched in zip(names, (2, 1), strict=True):
        shard = shard_of(WON)._replace(searched=np.full(1, searched, np.int32))
        save_shard(run.shard_path(name), shard, GAME)
    config, progress = open_run(run.folder, [override]), Progress(iteration=2, stage="reanalysis", shards=names)
    Run(run.folder, config, GAME).keep_settings(progress)
    assert [int(shard.searched[0]) for shard in run.load_replay(progress).shards] == [left, 1]


@pytest.mark.parametrize("override", ["evaluation.opponent=typo", "evaluation.benchmark=typo"])
def test_settings_that_are_refused_later_are_not_kept(run, override):
    save_shards(run, "00001-0000")
    before = files(run.folder)
    with pytest.raises(BadInput, match="typo"):
        train(run.folder, open_run(run.folder, [override, "selfplay.num_simulations=9"]), is_resuming=True)
    assert files(run.folder) == before and open_run(run.folder, []) == CONFIG


def test_a_run_that_exists_is_refused_and_left_alone(run):
    before = files(run.folder)
    with pytest.raises(
        BadInput, match=r"^run '.*' exists already; go on with it by --resume, or name another by --run$"
    ):
        Run.create(run.folder, CONFIG, GAME)
    assert files(run.folder) == before


@pytest.mark.parametrize("own", ["notes.txt", "deeper/notes.txt", "deeper/.draft.tmp"])
def test_a_folder_with_something_else_is_refused_and_nothing_in_it_is_removed(tmp_path, own):
    for name in (own, ".draft.tmp", ".best.safetensors.7.tmp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = files(tmp_path)
    with pytest.raises(BadInput, match=r"^folder '.*' exists already, and holds no run"):
        Run.create(tmp_path, CONFIG, GAME)
    assert files(tmp_path) == before


def test_a_file_in_the_run_s_place_is_refused(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(BadInput, match=r"^--run '.*' is a file; a run is a folder"):
        Run.create(tmp_path / "run", CONFIG, GAME)
    assert (tmp_path / "run").read_text() == "mine"


def test_a_run_can_begin_in_an_empty_folder_and_in_one_where_it_was_killed_before_it_began(tmp_path):
    for name in ("empty", "killed"):
        (tmp_path / name).mkdir()
    (tmp_path / "killed" / ".config.toml.123.tmp").write_text("[game")
    for name in ("empty", "killed"):
        Run.create(tmp_path / name, CONFIG, GAME)
        assert open_run(tmp_path / name, []) == CONFIG


def test_there_is_nothing_to_resume_where_there_is_no_run(tmp_path):
    with pytest.raises(BadInput, match=r"^there is no run to resume in '.*': it "):
        open_run(tmp_path, [])


def test_the_state_comes_back_whole(run):
    trainer = Trainer(CONFIG, GAME)
    for step in range(3):
        trainer.step(sample(8, step), 0.0)
    progress = Progress(
        iteration=4, stage="gate", steps=3, positions=77, best=2, rating=1.5, shards=["x"], notes={"a": 1}
    )
    run.save_state(trainer, progress)
    resumed = Trainer(CONFIG.model_copy(update={"seed": 1}), GAME)
    assert run.load_state(resumed) == progress
    assert state_bytes(resumed) == state_bytes(trainer) and resumed.steps == 3


def test_before_the_first_state_there_is_none_and_what_was_half_written_goes(run):
    half = [run.folder / ".state.safetensors.5.tmp", run.folder / "replay" / ".00001-0000.safetensors.5.tmp"]
    for path in half:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    assert run.load_state(Trainer(CONFIG, GAME)) is None
    assert not any(path.exists() for path in half)


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_a_state_that_is_cut_short_is_bad_input(run, size):
    run.save_state(Trainer(CONFIG, GAME), Progress())
    path = run.folder / "state.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(BadInput, match=r"^the run's state '.*state\.safetensors' cannot be read: "):
        run.load_state(Trainer(CONFIG, GAME))


def test_the_best_is_the_checkpoint_of_the_best_iteration(run):
    nets = {}
    for iteration in (0, 3):
        torch.manual_seed(iteration)
        trainer = Trainer(CONFIG.model_copy(update={"seed": iteration}), GAME)
        run.save_net(run.checkpoint_path(iteration), trainer.candidate(), Progress(iteration=iteration))
        nets[iteration] = run.checkpoint_path(iteration).read_bytes()
    for best in (0, 3, 0):
        run.publish_best(Progress(best=best))
        assert run.best_path.read_bytes() == nets[best]
    before = run.best_path.stat().st_mtime_ns
    run.publish_best(Progress(best=0))
    assert run.best_path.stat().st_mtime_ns == before


def test_a_net_s_card_tells_where_it_comes_from(run):
    run.save_net(run.candidate_path, Trainer(CONFIG, GAME).candidate(), Progress(5, "gate", 40, 0, 300, 4, 12.34))
    card = read_card(run.candidate_path)
    assert (card.game, card.iteration, card.step, card.positions, card.rating) == ("tic_tac_toe", 5, 40, 300, 12.3)
    assert (card.net, card.search, card.seed) == (CONFIG.net.model_dump(), CONFIG.search.model_dump(), CONFIG.seed)


@pytest.mark.parametrize(("wanted", "says"), [(4, ""), (3, "has played its 3 iterations, and there is nothing to do")])
def test_a_run_that_is_over_says_so_and_how_to_go_on(run, capsys, wanted, says):
    run.config = tiny_config(training={"iterations": wanted})
    check_iterations(run, Progress(iteration=4))
    told = capsys.readouterr().err
    assert says in told and bool(says) == ("go on with --set training.iterations=N" in told)


def test_fewer_iterations_than_were_played_are_refused_and_not_kept(run):
    run.save_state(Trainer(CONFIG, GAME), Progress(iteration=4))
    with pytest.raises(BadInput, match=r"^training.iterations = 2 is less than the 3 that run '.*run' has played; "):
        train(run.folder, open_run(run.folder, ["training.iterations=2"]), is_resuming=True)
    assert open_run(run.folder, []) == CONFIG


def save_shards(run, *names):
    for name in names:
        save_shard(run.shard_path(name), shard_of(WON), GAME)


def test_shards_that_left_the_window_are_removed_and_those_under_way_are_kept(run):
    save_shards(run, "00001-0000", "00001-0001", "00002-0000", "00003-0000", "00003-0001")
    run.remove_old_shards(Progress(iteration=3, shards=["00001-0001", "00002-0000"]))
    assert sorted(path.stem for path in (run.folder / "replay").iterdir()) == [
        "00001-0001", "00002-0000", "00003-0000", "00003-0001",
    ]  # fmt: skip


def test_the_replay_window_comes_back_in_its_order(run):
    save_shards(run, "00001-0001", "00002-0000")
    replay = run.load_replay(Progress(shards=["00002-0000", "00001-0001"]))
    assert replay.names == ["00002-0000", "00001-0001"] and replay.num_learnt == 10
    assert np.array_equal(replay.shards[0].actions, shard_of(WON).actions)


def test_a_growing_window_comes_back_as_large_as_it_was(tmp_path):
    """What has come and gone counts: shards leave the window that was loaded when they leave the unbroken one."""
    config = tiny_config(replay={"window": 10, "window_growth": 1.0})
    run = Run.create(tmp_path / "run", config, GAME)
    shards = {shard_name(1, number): shard_of((WON, LOST, DRAWN)[number % 3]) for number in range(40)}
    unbroken = run.load_replay(Progress())
    for name, shard in list(shards.items())[:30]:
        save_shard(run.shard_path(name), shard, GAME)
        unbroken.add(name, shard)
    positions = sum(shard.num_learnt for shard in list(shards.values())[:30])
    loaded = run.load_replay(Progress(positions=positions, shards=list(unbroken.names)))
    assert loaded.names == unbroken.names and unbroken.num_learnt < positions
    for name, shard in list(shards.items())[30:]:
        assert loaded.add(name, shard) == unbroken.add(name, shard)
    assert loaded.names == unbroken.names


def test_a_shard_that_is_gone_is_bad_input(run):
    with pytest.raises(BadInput, match=r"replay file '.*00009-0000.safetensors' cannot be read"):
        run.load_replay(Progress(shards=["00009-0000"]))


def test_names_of_shards_sort_by_iteration_and_number():
    names = [shard_name(iteration, number) for iteration in (1, 2, 10, 100) for number in (0, 2, 11)]
    assert names == sorted(names) and all(name.startswith(shard_name(int(name[:5]), None)) for name in names)


# --- games of the user's own ---


@pytest.fixture
def own(monkeypatch, tmp_path):
    """A run of Nim from a file in the working folder, with its first net."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "nim.py", NIM)
    config = tiny_config(game={"name": "nim.py:Nim(heap=5)"})
    run = Run.create(tmp_path / "own", config, make_game(config.game.name))
    run.save_net(run.checkpoint_path(0), Trainer(config, run.game).candidate(), Progress(iteration=0))
    return run


def refusal(run, *overrides) -> str:
    """Returns the line with which a run is not resumed; its settings stay as they were."""
    before = files(run.folder)
    with pytest.raises(BadInput) as error:
        open_run(run.folder, list(overrides))
    assert files(run.folder) == before and len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_a_game_s_file_that_has_changed_is_told_when_the_run_is_opened(own, capsys):
    assert open_run(own.folder, []) == own.config and capsys.readouterr().err == ""
    write_file(own.folder.parent / "nim.py", NIM, ("return WIN if state.ply & 1 else LOSS", "return WIN"))
    assert open_run(own.folder, []) == own.config
    assert capsys.readouterr().err.startswith("azero: nim.py:Nim(heap=5) has changed since checkpoint ")


def test_a_game_s_file_of_another_shape_is_refused_when_the_run_is_opened(own):
    write_file(own.folder.parent / "nim.py", NIM, ("return 3", "return 4"))
    assert "its actions, now 4, are of another shape than the net's" in refusal(own)


def task_of(run):
    return PlayTask(str(run.checkpoint_path(0)), run.config, source_digest_of(run.game.rules), seeds=(1, 2))


def play_games_of(run):
    return play_task(task_of(run), lambda num: None)


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_game_s_file_that_was_moved_is_named_anew(own, monkeypatch, is_edited):
    folder, shard = own.folder.parent, play_games_of(own)
    if is_edited:  # and the run has gone on since, but promoted no net
        write_file(folder / "nim.py", NIM, ("return WIN if", "return LOSS if"))
        own.game = make_game(own.config.game.name)
        own.save_net(own.candidate_path, Trainer(own.config, own.game).candidate(), Progress())
    (folder / "rules").mkdir()
    (folder / "nim.py").rename(folder / "rules" / "nim.py")
    forget_files(monkeypatch)
    assert refusal(own).endswith(
        "own' plays nim.py:Nim(heap=5), and there is no such file; "
        "where it lies now is said by --set game.name=path/to/nim.py:Nim(heap=5)"
    )
    save_shard(own.shard_path("00001-0000"), shard, own.game)
    config = open_run(own.folder, ["game.name=rules/nim.py:Nim(heap=5)"])
    moved = Run(own.folder, config, make_game(config.game.name))
    moved.keep_settings(None)
    assert moved.load_replay(Progress(shards=["00001-0000"])).num_learnt > 0
    assert moved.game.name == config.game.name == "rules/nim.py:Nim(heap=5)" and open_run(own.folder, []) == config


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("rules/nim.py:Nim(heap=5)", [("return WIN if", "return LOSS if")], "a run's game cannot change when it is "
         "resumed, but for the place of a file that is as it was; begin another with --run"),
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
    task = task_of(own)
    assert len(play_games_of(own).lengths) == 2
    write_file(own.folder.parent / "nim.py", NIM, ("return WIN if", "return LOSS if"))
    with pytest.raises(BadInput, match=r"^nim.py:Nim\(heap=5\) has changed while it was being played; "):
        play_task(task, lambda num: None)
