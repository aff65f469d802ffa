"""Tests of checkpoints made in Python: new nets, and nets trained by a loop of one's own."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import azero

SMALL = {"net.blocks": 1, "net.channels": 8, "net.value_hidden": 8}
CONFIG = azero.load_config("tic_tac_toe", SMALL)
GAME = azero.make_game("tic_tac_toe")
STATES = [GAME.new_initial_state(), GAME.state_from_moves("a1 b2"), GAME.state_from_moves("a1 b1 a2 b2 c3")]


def trained(checkpoint):
    """Takes a few steps towards the centre, and towards a win for the player to move."""
    planes = torch.from_numpy(np.stack([state.planes() for state in STATES[:1]]))
    optimizer = torch.optim.Adam(checkpoint.net.parameters(), 0.05)
    for _ in range(20):
        policy, results = checkpoint.net.train()(planes.repeat(4, 1, 1, 1))
        loss = torch.nn.functional.cross_entropy(policy, torch.full((4,), 4))
        loss = loss + torch.nn.functional.cross_entropy(results, torch.zeros(4, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return checkpoint


def test_a_new_net_knows_nothing_and_depends_on_the_seed():
    one, again, other = (azero.new_checkpoint(azero.load_config("tic_tac_toe", SMALL | {"seed": n})) for n in (1, 1, 2))
    policies, values = one.evaluate(STATES)
    for policy, state in zip(policies, STATES, strict=True):
        assert np.flatnonzero(policy).tolist() == state.legal_actions()
        np.testing.assert_allclose(policy[state.legal_actions()], 1 / len(state.legal_actions()), rtol=1e-5)
    assert not values.any() and policies.dtype == values.dtype == np.float32
    weights = [next(iter(each.net.parameters())) for each in (one, again, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_a_net_trained_by_a_loop_of_ones_own_is_saved_and_plays(tmp_path, run_azero):
    path, checkpoint = tmp_path / "mine.safetensors", trained(azero.new_checkpoint(CONFIG))
    policies, values = checkpoint.evaluate(STATES[:1])
    assert policies.argmax() == 4 and policies[0, 4] > 0.5 and values[0] > 0.5
    azero.save_checkpoint(path, checkpoint.net, replace(checkpoint.card, step=20))
    loaded = azero.load_checkpoint(str(path))
    assert (loaded.card.step, loaded.game) == (20, GAME)
    for one, other in zip(checkpoint.evaluate(STATES), loaded.evaluate(STATES), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    code, out, _ = run_azero("suggest", f"{path}@16")
    assert code == 0 and "best: b2" in out


def test_an_evaluator_keeps_its_weights_and_serves_a_search():
    checkpoint = azero.new_checkpoint(CONFIG)
    before = checkpoint.evaluator()
    planes = np.stack([state.planes() for state in STATES])
    trained(checkpoint)
    (old, _), (new, values) = before(planes), checkpoint.evaluator("cpu")(planes)
    assert not old.any() and new.any() and values.shape == (3,) and (np.abs(values) <= 1).all()
    result = azero.Search(GAME, checkpoint.evaluator(), 30).run(STATES)
    policies, _ = checkpoint.evaluate(STATES)
    np.testing.assert_allclose(result.P, policies, atol=1e-5)


def test_a_users_net_is_saved_and_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.py").write_text(
        "from torch import nn\n\n\nclass Tiny(nn.Module):\n    def __init__(self, game):\n        super().__init__()\n"
        "        planes, height, width = game.planes_shape\n"
        "        self.layer = nn.Linear(planes * height * width, game.num_actions + 3)\n\n"
        "    def forward(self, planes):\n        out = self.layer(planes.flatten(1))\n"
        "        return out[:, :-3], out[:, -3:]\n"
    )
    checkpoint = azero.new_checkpoint(azero.load_config("tic_tac_toe", {"net.name": "tiny.py:Tiny"}))
    azero.save_checkpoint("tiny.safetensors", checkpoint.net, checkpoint.card)
    loaded = azero.load_checkpoint("tiny.safetensors")
    assert loaded.card.net_digest and np.array_equal(loaded.evaluate(STATES)[0], checkpoint.evaluate(STATES)[0])


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({"game": "hex(rows=3,columns=3)"}, "its card names the game hex.*, and the net is for tic_tac_toe"),
        ({"net": CONFIG.net.model_dump() | {"channels": 9}}, "in the net that the card describes"),
    ],
)
def test_a_net_that_does_not_fit_its_card_is_not_written(tmp_path, card, message):
    checkpoint = azero.new_checkpoint(CONFIG)
    with pytest.raises(azero.BadInput, match=rf"^checkpoint '[^\n]*' is not written: [^\n]*{message}[^\n]*$"):
        azero.save_checkpoint(tmp_path / "net.safetensors", checkpoint.net, replace(checkpoint.card, **card))
    assert not list(tmp_path.iterdir())


def test_a_net_of_nan_and_what_is_no_net_are_not_written(tmp_path):
    checkpoint = azero.new_checkpoint(CONFIG)
    with pytest.raises(azero.BadInput, match="the net is a Linear; it should come from"):
        azero.save_checkpoint(tmp_path / "net.safetensors", torch.nn.Linear(1, 1), checkpoint.card)
    with torch.no_grad():
        next(checkpoint.net.parameters()).fill_(torch.nan)
    with pytest.raises(azero.BadInput, match="is not written: .* not finite numbers"):
        azero.save_checkpoint(tmp_path / "net.safetensors", checkpoint.net, checkpoint.card)
    assert not list(tmp_path.iterdir())


def test_bad_positions_are_refused():
    checkpoint = azero.new_checkpoint(CONFIG)
    for states, message in (([], "positions are needed"), ([GAME.state_from_moves("a1 b1 a2 b2 a3")], "end of a game")):
        with pytest.raises(azero.BadInput, match=message):
            checkpoint.evaluate(states)
    with pytest.raises(azero.BadInput, match="^device 'gpu' should be"):
        checkpoint.evaluator("gpu")
