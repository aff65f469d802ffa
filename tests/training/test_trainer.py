"""Tests of the trainer: losses by hand, learning, and a state that restores training byte for byte."""

import copy
import math

import numpy as np
import pytest
import torch
from cases import thorough

from azero.errors import BadInput
from azero.games import make_game
from azero.nets.architectures.contract import Prediction
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.devices import has_bf16
from azero.selfplay.data.samples import Sample
from azero.training.learning.losses import losses_of
from azero.training.learning.passes import PASS_ROWS
from azero.training.learning.trainer import Trainer
from azero.training.measure import add_steps

from .runs import tiny_config

GAME, OTHELLO = make_game("tic_tac_toe"), make_game("othello(size=4)")
HEADS = ["ownership", "score"]
TAKES_BF16 = pytest.mark.skipif(not has_bf16(torch.device("cpu")), reason="takes a CPU that computes in bf16")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def sample(size, seed=0, game=GAME):
    """Returns random positions with random targets, to be memorised."""
    rng, num_actions = np.random.default_rng(seed), game.num_actions
    planes = rng.integers(0, 2, (size, *game.planes_shape)).astype(np.float32)
    policies, results = one_hot(rng.integers(0, num_actions, size), num_actions), one_hot(rng.integers(0, 3, size), 3)
    owners = rng.integers(-1, 2, (size, planes[0, 0].size)).astype(np.float32)
    scores = rng.integers(-8, 9, (size, 1)).astype(np.float32) / 4
    owners[1::4] = scores[1::4] = np.nan  # these are lessons
    auxiliary = dict(zip(HEADS, (owners, scores), strict=True))
    return Sample(planes, policies, results, auxiliary)


def one_hot(classes, count):
    return np.eye(count, dtype=np.float32)[classes]


def state_bytes(trainer):
    return {name: tensor.numpy().tobytes() for name, tensor in trainer.tensors().items()}


def test_losses_by_hand():
    prediction = Prediction(
        policy_logits=torch.tensor([[math.log(3.0), 0.0], [0.0, 0.0]]),  # 3/4, 1/4; 1/2, 1/2
        result_logits=torch.tensor([[0.0, 0.0, 0.0], [math.log(2.0), 0.0, 0.0]]),  # thirds; 1/2, 1/4, 1/4
    )
    policies = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    losses = losses_of(prediction, policies, torch.tensor([[0.0, 1.0, 0.0], [0.25, 0.0, 0.75]]))
    assert losses.policy.item() == pytest.approx((math.log(4 / 3) + math.log(2)) / 2)
    assert losses.value.item() == pytest.approx((math.log(3) + 0.25 * math.log(2) + 0.75 * math.log(4)) / 2)
    entropy = 0.75 * math.log(4 / 3) + 0.25 * math.log(4)
    assert losses.policy_entropy.item() == pytest.approx((entropy + math.log(2)) / 2)
    assert losses.target_entropy.item() == pytest.approx(math.log(2) / 2)


def test_devices_that_share_a_batch_learn_as_one(monkeypatch):
    """The CPU has two names. The second device has its own weights, which follow the first's."""
    config, alone = tiny_config(), Trainer(tiny_config(), GAME)
    devices = [torch.device("cpu"), torch.device("cpu", 0)]
    monkeypatch.setattr("azero.training.learning.trainer.pick_devices", lambda name: devices)
    shared = Trainer(config, GAME)
    for step in range(3):
        batch = sample(2 * PASS_ROWS, seed=step)
        one, other = alone.step(batch, 0.0), shared.step(batch, 0.0)
        assert one.policy == other.policy and one.value == other.value
    own, first = (next(twin.parameters()) for twin in reversed(shared.passes.twins))
    assert own.data_ptr() != first.data_ptr()
    assert state_bytes(shared) == state_bytes(alone)


def test_a_new_net_knows_nothing():
    losses = Trainer(tiny_config(), GAME).step(sample(16), 0.0)
    assert losses.policy.item() == losses.policy_entropy.item() == pytest.approx(math.log(9))
    assert losses.value.item() == pytest.approx(math.log(3)) and losses.target_entropy.item() == 0


@pytest.mark.parametrize(
    ("optimizer", "precision"),
    [("adamw", "fp32"), ("sgd", "fp32"), ("muon", "fp32"), pytest.param("adamw", "bf16", marks=TAKES_BF16)],
)
def test_a_sample_is_learnt_by_heart(optimizer, precision):
    settings = {"optimizer": optimizer, "precision": precision, "schedule": "constant"}
    config = tiny_config(net={"channels": 16}, training=settings)
    trainer, batch = Trainer(config, GAME), sample(8)
    for _ in range(150):
        losses = trainer.step(batch, 0.0)
    assert losses.policy < 0.1 and losses.value < 0.1
    planes, policies, results, _ = trainer.passes.to_device(batch)
    with torch.inference_mode():
        prediction = trainer.candidate()(planes)  # the average has its own statistics
    assert (prediction.policy_logits.argmax(1) == policies.argmax(1)).all()
    assert (prediction.result_logits.argmax(1) == results.argmax(1)).all()


ALL_HEADS = dict(zip([f"{name}_loss_weight" for name in HEADS], [1.5, 1.0], strict=True))


@pytest.mark.parametrize("context", ["none", *thorough("se", "pool")])
def test_all_heads_learn_a_sample_by_heart(context):
    settings = ALL_HEADS | {"schedule": "constant", "precision": "fp32"}
    config = tiny_config(net={"channels": 16, "global_context": context}, training=settings)
    trainer, batch = Trainer(config, OTHELLO), sample(8, game=OTHELLO)
    for _ in range(200):
        losses = trainer.step(batch, 0.0)
    learnt, targets = losses.auxiliary, batch.auxiliary
    assert losses.policy < 0.1 and losses.value < 0.1 and learnt["score"] < 0.01
    trainer.learner.eval()
    with torch.inference_mode():
        _, outputs = trainer.learner(torch.from_numpy(batch.planes))
    is_known = np.isfinite(targets["score"][:, 0])
    np.testing.assert_allclose(outputs["score"][is_known], targets["score"][is_known], atol=0.5)
    owners = 2 * torch.sigmoid(outputs["ownership"][is_known]) - 1
    assert np.abs(owners.numpy() - targets["ownership"][is_known]).mean() < 0.5, "it is two thirds without learning"


def test_no_pass_of_a_batch_has_a_single_row():
    """Batch normalisation of one value per channel, as in a score head without a picture, is not possible."""
    trainer = Trainer(tiny_config(net={"name": "dense", "blocks": 1}, training={"score_loss_weight": 1.0}), OTHELLO)
    losses = trainer.step(sample(PASS_ROWS + 1, game=OTHELLO), 0.0)
    assert np.isfinite(float(losses.policy))


@pytest.mark.parametrize("name", HEADS)
def test_a_head_is_there_where_its_loss_has_a_weight_and_the_net_is_the_same_at_first(name):
    plain, trainer = (Trainer(tiny_config(training=own), OTHELLO) for own in ({}, {f"{name}_loss_weight": 0.1}))
    assert list(trainer.learner.heads) == [name] and not list(plain.learner.heads)
    batch = sample(8, game=OTHELLO)
    before = {key: tensor.clone() for key, tensor in trainer.net.state_dict().items()}
    assert all(torch.equal(tensor, before[key]) for key, tensor in plain.net.state_dict().items())
    losses = trainer.step(batch, 0.0)
    assert set(add_steps({}, [losses], 1.0)) - set(add_steps({}, [plain.step(batch, 0.0)], 1.0)) == {name}
    assert losses.total(trainer.config).item() == pytest.approx(
        (losses.policy + losses.value + 0.1 * losses.auxiliary[name]).item()
    )


def test_what_is_saved_of_a_net_is_without_heads(tmp_path):
    config, path = tiny_config(training=ALL_HEADS), tmp_path / "net.safetensors"
    trainer = Trainer(config, OTHELLO)
    trainer.step(sample(8, game=OTHELLO), 0.0)
    write_checkpoint(path, trainer.candidate(), Card(OTHELLO.name, config.net.model_dump(), config.search.model_dump()))
    loaded, expected = load_checkpoint(path).net.state_dict(), trainer.average.state_dict()
    assert loaded.keys() == expected.keys() and not any(head in name for name in loaded for head in HEADS)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in loaded.items())


OPTIMIZERS = {
    "adamw": lambda net: torch.optim.AdamW(net.parameters(), lr=0.01, betas=(0.9, 0.999), weight_decay=0, fused=False),
    "sgd": lambda net: torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, nesterov=True, fused=False),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_the_plain_optimizer(name):
    """Two passes of unequal size with a fused optimiser equal one loss with `backward` and a plain optimiser."""
    settings = {"optimizer": name, "learning_rate": 0.01, "weight_decay": 0, "warmup_steps": 0, "gradient_clip": 0}
    config = tiny_config(net={"channels": 16}, training={**settings, "schedule": "constant", "precision": "fp32"})
    trainer = Trainer(config, GAME)
    net = copy.deepcopy(trainer.net)
    optimizer = OPTIMIZERS[name](net)
    for step in range(4):
        batch = sample(PASS_ROWS + 41, step)  # passes of 85 and 84 rows
        trainer.step(batch, 0.0)
        planes, policies, results, _ = trainer.passes.to_device(batch)
        parts = [net(planes[own]) for own in (slice(0, 85), slice(85, None))]
        losses = losses_of(Prediction(*(torch.cat(logits) for logits in zip(*parts, strict=True))), policies, results)
        optimizer.zero_grad()
        (losses.policy + losses.value).backward()
        optimizer.step()
    for (key, ours), theirs in zip(trainer.net.named_parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5, msg=lambda text, key=key: f"{key}: {text}")


def losses_in(precision, num_steps=120):
    """Returns the policy and value losses of each step, [num_steps, 2], on samples that follow a rule."""
    trainer = Trainer(tiny_config(net={"channels": 16}, training={"precision": precision}), GAME)
    losses = []
    for step in range(num_steps):
        drawn = sample(64, step)
        first = drawn.planes[:, 0].reshape(64, 9)
        policies = (first + 0.1) / (first + 0.1).sum(1, keepdims=True)
        results = one_hot(np.minimum(first[:, :3].sum(1), 2).astype(int), 3)
        batch = drawn._replace(policies=policies, results=results)
        losses.append([float(loss) for loss in trainer.step(batch, step / num_steps)[:2]])
    return np.array(losses)


@TAKES_BF16
def test_bf16_learns_as_fp32_does():
    exact, rough = losses_in("fp32"), losses_in("bf16")
    assert exact[-20:].mean() < 0.85 * exact[:20].mean(), "fp32 should learn"
    assert not np.array_equal(exact, rough)
    np.testing.assert_allclose(rough[:10], exact[:10], rtol=0.02)
    np.testing.assert_allclose(rough[-20:].mean(0), exact[-20:].mean(0), rtol=0.02, atol=0.01)


@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=TAKES_BF16)])
def test_weights_do_not_depend_on_the_number_of_threads(precision):
    trainers = [
        Trainer(tiny_config(device={"threads": num}, training={"precision": precision}), GAME) for num in (1, 2, 5)
    ]
    for step in range(3):
        for trainer in trainers:
            trainer.step(sample(3 * PASS_ROWS + 7, step), 0.0)
    one, *others = (state_bytes(trainer) for trainer in trainers)
    assert all(each == one for each in others)


@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=TAKES_BF16)])
def test_whatever_computes_weights_and_optimizer_are_fp32(precision):
    trainer = Trainer(tiny_config(training={"precision": precision}), GAME)
    trainer.step(sample(8), 0.0)
    kinds = {tensor.dtype for name, tensor in trainer.tensors().items() if "num_batches" not in name}
    assert kinds == {torch.float32} == {parameter.grad.dtype for parameter in trainer.net.parameters()}


def test_a_step_takes_the_rate_of_the_schedule():
    """The weights that Muon trains have their own rate, on the same schedule."""
    trainer = Trainer(tiny_config(training={"muon_learning_rate": 0.04}), GAME)
    rates = []
    for _ in range(6):
        trainer.step(sample(8), 0.0)
        rates.append([group["lr"] for group in trainer.optimizer.param_groups])
    assert rates == [pytest.approx([2 * rate, rate, rate]) for rate in (0.005, 0.01, 0.015, 0.02, 0.02, 0.02)]
    trainer.step(sample(8), 1.0)
    assert [group["lr"] for group in trainer.optimizer.param_groups] == pytest.approx([0.0004, 0.0002, 0.0002])


def test_the_value_loss_has_its_weight():
    """With a weight of 0, the layers of the value head do not change."""
    trainer = Trainer(tiny_config(training={"value_loss_weight": 0, "weight_decay": 0}), GAME)
    before = trainer.net.results.weight.clone(), trainer.net.policy.weight.clone()
    for _ in range(3):
        trainer.step(sample(8), 0.0)
    assert torch.equal(trainer.net.results.weight, before[0]) and not torch.equal(trainer.net.policy.weight, before[1])


@pytest.mark.parametrize(("clip", "is_kept"), [(1e-3, True), (0.0, False)])
def test_gradients_are_clipped_where_that_is_asked_for(clip, is_kept):
    trainer = Trainer(tiny_config(training={"gradient_clip": clip}), GAME)
    trainer.step(sample(8), 0.0)
    norm = torch.sqrt(sum((p.grad**2).sum() for p in trainer.net.parameters()))
    assert (norm <= clip * 1.001) == is_kept


def test_the_candidate_is_the_average_where_one_is_kept():
    trainer, plain = Trainer(tiny_config(), GAME), Trainer(tiny_config(training={"ema_decay": 0}), GAME)
    for each in (trainer, plain):
        each.step(sample(8), 0.0)
    pairs = [list(zip(t.candidate().parameters(), t.net.parameters(), strict=True)) for t in (trainer, plain)]
    assert not all(torch.equal(a, w) for a, w in pairs[0])
    assert all(torch.equal(a, w) for a, w in pairs[1])
    assert plain.net.training and not plain.candidate().training


def test_a_seed_settles_the_first_net():
    one, same, other = (Trainer(tiny_config().model_copy(update={"seed": seed}), GAME) for seed in (5, 5, 6))
    assert state_bytes(one) == state_bytes(same) != state_bytes(other)


@pytest.mark.parametrize("heads", [{}, ALL_HEADS], ids=["no heads", "all heads"])
@pytest.mark.parametrize(
    ("optimizer", "precision"),
    [("adamw", "fp32"), ("sgd", "fp32"), ("muon", "fp32"), pytest.param("adamw", "bf16", marks=TAKES_BF16)],
)
def test_a_restored_trainer_goes_on_to_the_byte(optimizer, precision, heads):
    config = tiny_config(net={"channels": 16}, training=heads | {"optimizer": optimizer, "precision": precision})
    unbroken, broken = Trainer(config, OTHELLO), Trainer(config, OTHELLO)
    for step in range(4):
        for trainer in (unbroken, broken):
            trainer.step(sample(8, step, OTHELLO), step / 8)
    saved = {name: tensor.clone() for name, tensor in broken.tensors().items()}
    resumed = Trainer(config.model_copy(update={"seed": 99}), OTHELLO)  # its initial weights are replaced
    resumed.restore(saved, broken.steps)
    assert state_bytes(resumed) == state_bytes(unbroken)
    for step in range(4, 8):
        for trainer in (unbroken, resumed):
            trainer.step(sample(8, step, OTHELLO), step / 8)
    assert resumed.steps == unbroken.steps == 8
    assert state_bytes(resumed) == state_bytes(unbroken)


@pytest.mark.parametrize(
    ("saved", "wanted"),
    [
        ({}, {"net": {"channels": 16}}),
        ({"training": {"optimizer": "sgd"}}, {}),
        ({}, {"training": ALL_HEADS}),
        ({"training": ALL_HEADS}, {}),
    ],
    ids=["a wider net", "another optimiser", "more heads", "fewer heads"],
)
def test_a_state_of_other_settings_is_bad_input(saved, wanted):
    trainer = Trainer(tiny_config(**saved), OTHELLO)
    trainer.step(sample(8, game=OTHELLO), 0.0)
    with pytest.raises(BadInput, match=r"^the saved training state does not fit the settings: ") as error:
        Trainer(tiny_config(**wanted), OTHELLO).restore(trainer.tensors(), 1)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["muon", *thorough("adamw")])
def test_an_optimiser_s_tensors_of_other_shapes_are_bad_input(name):
    """A fused optimiser would read and write beyond their ends."""
    config = tiny_config(training={"optimizer": name})
    trainer = Trainer(config, GAME)
    trainer.step(sample(8), 0.0)
    whole = trainer.tensors()
    own = [each for each in whole if each.startswith("optimizer.")]
    for each in own:
        for wrong in ({each: torch.zeros(2, 1)}, {}, {each: whole[each], "optimizer.99.step": torch.zeros(())}):
            kept = {key: tensor for key, tensor in whole.items() if key != each}
            with pytest.raises(BadInput, match="does not fit the settings"):
                Trainer(config, GAME).restore(kept | wrong, 1)
    with pytest.raises(BadInput, match="does not fit the settings"):
        Trainer(config, GAME).restore({key: each for key, each in whole.items() if key not in own}, 1)
