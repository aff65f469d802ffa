"""Tests of training of a rollout policy: it finds a known policy, and reports figures on held-out games."""

import numpy as np
import pytest
from arena.agents import write_checkpoint
from games.user_games import NIM, forget_files, write_file
from safetensors.numpy import load_file
from selfplay.games import CONNECT_FOUR, TIC_TAC_TOE, some_games, visits_of, with_visits

from azero.arena.agents.make import make_agent
from azero.errors import BadInput
from azero.games import State, make_game
from azero.mcts import LinearSoftmax
from azero.mcts.rollouts.features import NO_PATTERN, NUM_PATTERNS
from azero.runs.shards import save_shard
from azero.runs.state import Progress
from azero.selfplay.data.shard import Shard, join_shards
from azero.training.learning.trainer import Trainer
from azero.training.rollout_policy import RolloutTrainer, choose_games, features_of, game_of, shards_of, train_rollout
from azero.training.run import Run

from .runs import tiny_config

pytestmark = pytest.mark.slow  # it compiles kernels of its own

SHARD = some_games(TIC_TAC_TOE)


def split_none(shard):
    """Returns the positions to learn from, all of them, and the held-out positions, none."""
    return np.ones(shard.num_positions, bool), np.zeros(shard.num_positions, bool)


def legal_actions(game, shard: Shard, n: int) -> list[int]:
    return State.from_record(game, shard.states[n]).legal_actions()


def with_policy(shard: Shard, game, rng: np.random.Generator) -> Shard:
    """Returns the same positions with policies that are softmaxes of random feature weights."""
    positions, visits = features_of(game, shard), np.zeros((shard.num_positions, game.num_actions))
    of_patterns, of_actions = rng.normal(size=NUM_PATTERNS), rng.normal(size=game.num_actions)
    weights = np.exp(of_patterns[positions.patterns] + of_actions[positions.actions])
    for n in range(len(positions)):
        own = weights[positions.starts[n] : positions.starts[n + 1]]
        visits[n, legal_actions(game, shard, n)] = np.round(60_000 * own / own.sum())
    return with_visits(shard, visits)


@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR])
def test_a_policy_that_the_features_can_tell_is_learnt(game):
    """On training positions, cross-entropy falls to the entropy of the search's policy, and first choices agree."""
    shard = with_policy(some_games(game), game, np.random.default_rng(0))
    trainer = RolloutTrainer(features_of(game, shard), *split_none(shard), game.num_actions)
    before = trainer.judge(trainer.learnt)
    assert before.cross_entropy == pytest.approx(before.uniform_cross_entropy) and before.top_1 < 0.5
    trainer.train(epochs=400, seed=0, is_quiet=True)
    after = trainer.judge(trainer.learnt)
    assert after.search_entropy <= after.cross_entropy < after.search_entropy + 0.02 < before.cross_entropy - 0.1
    assert after.top_1 > 0.9


def test_positions_hold_every_legal_action_and_its_share_of_the_visits():
    positions, visits = features_of(TIC_TAC_TOE, SHARD), visits_of(SHARD, TIC_TAC_TOE)
    assert len(positions) == SHARD.num_positions
    for n in range(len(positions)):
        own = slice(positions.starts[n], positions.starts[n + 1])
        legal = legal_actions(TIC_TAC_TOE, SHARD, n)
        assert own.stop - own.start == len(legal)
        assert np.allclose(positions.policies[own], visits[n, legal] / visits[n].sum())
        assert (positions.patterns[own] != NO_PATTERN).all()
    assert set(positions.actions.tolist()) == {0, 1, 4}, "a corner, an edge and the centre"


def test_whole_games_are_held_out():
    is_held_out = choose_games(SHARD, seed=3)
    ends = np.cumsum(SHARD.lengths)
    games = [is_held_out[end - length : end] for end, length in zip(ends, SHARD.lengths, strict=True)]
    assert all(each.all() or not each.any() for each in games) and sum(each.all() for each in games) == 1
    assert any((choose_games(SHARD, seed) != is_held_out).any() for seed in range(4, 9))


def test_positions_without_visits_are_refused():
    none = with_visits(SHARD, np.zeros((SHARD.num_positions, 9)))
    with pytest.raises(BadInput, match="holds a position whose legal moves have no visits; is it damaged"):
        features_of(TIC_TAC_TOE, none)


def test_figures_by_hand():
    """Untrained weights have the figures of the uniform policy. Ties count in part."""
    shard = some_games(TIC_TAC_TOE)
    visits = np.zeros((shard.num_positions, 9))
    firsts = np.array([legal_actions(TIC_TAC_TOE, shard, n)[0] for n in range(shard.num_positions)])
    visits[np.arange(len(firsts)), firsts] = 5
    positions = features_of(TIC_TAC_TOE, with_visits(shard, visits))
    trainer = RolloutTrainer(positions, *split_none(shard), 9)
    figures, counts = trainer.judge(trainer.learnt), np.diff(positions.starts)
    assert figures.uniform_cross_entropy == pytest.approx(np.log(counts).mean(), abs=1e-5)
    assert figures.uniform_top_1 == pytest.approx((1 / counts).mean(), abs=1e-5)
    assert figures.search_entropy == 0 and figures.top_1 == figures.uniform_top_1


@pytest.fixture
def run(tmp_path):
    """A folder of a run with two shards."""
    folder = tmp_path / "run"
    save_shard(folder / "replay" / "00001-0000.safetensors", SHARD, TIC_TAC_TOE)
    save_shard(folder / "replay" / "00001-0001.safetensors", SHARD, TIC_TAC_TOE)
    return folder


def test_the_same_seed_gives_the_same_file(run, tmp_path):
    files = [tmp_path / name for name in ("one.safetensors", "same.safetensors", "other.safetensors")]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        card, figures = train_rollout([run], file, epochs=2, seed=seed)
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    assert (card.games, card.game, card.epochs) == (24, "tic_tac_toe", 2)
    assert 0 < figures.search_entropy < figures.cross_entropy


def test_a_net_is_mixed_with_the_trained_policy(run, tmp_path):
    """The root, the first leaf of a search, has the value (1 - a) v + a z, with the result z of a rollout."""
    file, a = tmp_path / "rollout.safetensors", 0.25
    train_rollout([run], file, epochs=2, seed=0)
    net = write_checkpoint(tmp_path / "net.safetensors")
    agent = make_agent(f"{net}(rollout_weight={a},rollout={file},precision=fp32,cache_mib=0)@1")
    state = TIC_TAC_TOE.new_initial_state()
    agent.player.start(20, [state] * 20, 0)
    agent.player.choose(range(20))
    search = agent.player.search
    roots = search.forest.nodes[:, 0]
    assert isinstance(search.rollout, LinearSoftmax) and (roots.N == 1).all()
    logits = agent.net_alone(state.planes()[None])[1][0].astype(float)
    win, _, loss = np.exp(logits) / np.exp(logits).sum()
    z = (roots.W - (1 - a) * (win - loss)) / a
    assert np.allclose(z, np.round(z), atol=1e-4) and {-1, 1} <= set(np.round(z).astype(int)) <= {-1, 0, 1}


def test_weights_are_the_same_in_every_symmetry(run, tmp_path):
    train_rollout([run], tmp_path / "out.safetensors", epochs=2, seed=0)
    actions = load_file(tmp_path / "out.safetensors")["actions"].reshape(3, 3)
    assert (actions == np.rot90(actions)).all() and (actions == actions.T).all() and len(np.unique(actions)) == 3


def test_what_is_not_there_is_told(run, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"empty' holds no replay/\*\.safetensors; is it the folder of a run with games"):
        shards_of([tmp_path / "empty"])
    with pytest.raises(BadInput, match="none' does not exist; it should be a run's folder, or shards from its replay/"):
        shards_of([tmp_path / "none"])
    assert [path.name for path in shards_of([run])] == ["00001-0000.safetensors", "00001-0001.safetensors"]


def test_one_game_is_too_few():
    one = SHARD._replace(lengths=SHARD.lengths[:1])
    with pytest.raises(BadInput, match="^there is 1 game to learn from; training needs 2 or more, one of them"):
        choose_games(one, 0)


def test_the_file_of_a_user_s_game_is_found_beside_the_run(tmp_path, monkeypatch):
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    config = tiny_config(game={"name": f"{write_file(tmp_path / 'nim.py', NIM).name}:Nim"})
    run = Run.create(tmp_path / "run", config, make_game(config.game.name))
    run.save_net(run.best_path, Trainer(config, run.game).candidate(), Progress())
    save_shard(run.shard_path("00001-0000"), SHARD, run.game)
    monkeypatch.chdir("/")
    forget_files(monkeypatch)
    assert str(game_of(run.shard_path("00001-0000"))) == f"{tmp_path}/nim.py:Nim"


def test_shards_alone_are_learnt_from(run, tmp_path):
    card, _ = train_rollout(shards_of([run])[:1], tmp_path / "out.safetensors", epochs=1, seed=0)
    assert card.games == 12 and join_shards([SHARD]).num_positions > card.positions
