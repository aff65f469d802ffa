"""Tests of checkpoints: they load unchanged, and other files are refused in one line."""

import io
import json
import os
import pickle
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import long
from games.user_games import NIM, forget_files, write_file
from safetensors.numpy import save
from safetensors.torch import load_file, save_file

import azero
from azero.config.schema import NetConfig, SearchConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import source_digest_of
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.checkpoint_file import FORMAT, Card, read_card
from azero.system.tensor_files import digest_of, read_tensors, write_tensors

from .towers import make_net, random_planes

GAME = make_game("connect_four(rows=4,columns=5)")
TINY = NetConfig(blocks=1, channels=2, policy_channels=1, value_channels=1, value_hidden=2)
CARD = Card(
    game=str(GAME),
    net=TINY.model_dump(mode="json"),
    search=SearchConfig(c_puct=2.0).model_dump(),
    step=1200,
    iteration=7,
    positions=98765,
    rating=123.5,
    seed=42,
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "tiny.safetensors"
    write_checkpoint(path, make_net(GAME, TINY), CARD)
    return path


def refusal(path: Path, game=None) -> str:
    """Returns the error, one line, with which a file is refused."""
    with pytest.raises(BadInput) as error:
        load_checkpoint(path, game)
    message = str(error.value)
    assert len(message.splitlines()) == 1 and repr(str(path)) in message
    return message


NONE = object()
"""In place of a field that a card does not have."""


def rewrite(path: Path, **changed) -> None:
    """Rewrites a file with changed fields in its card. Weights and digest stay the same."""
    tensors, header = load_file(path), header_of(path)
    fields = json.loads(header["__metadata__"]["azero"]) | changed
    fields = {key: value for key, value in fields.items() if value is not NONE}
    save_file(tensors, path, {"azero": json.dumps(fields)})


def sign(path: Path, **changed) -> None:
    """Rewrites a file as `rewrite` does, with the right digest."""
    rewrite(path, digest=NONE, **changed)
    card, tensors = read_tensors(path, "")
    write_tensors(path, tensors, card)


def header_of(path: Path) -> dict:
    data = path.read_bytes()
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


@pytest.fixture
def copy(saved, tmp_path) -> Path:
    path = tmp_path / "copy.safetensors"
    path.write_bytes(saved.read_bytes())
    return path


def test_a_checkpoint_comes_back_as_it_was(saved):
    net, loaded = make_net(GAME, TINY), load_checkpoint(saved)
    assert loaded.card == read_card(saved) == CARD and loaded.game == GAME
    assert list(loaded.net.state_dict()) == list(net.state_dict())
    for name, tensor in net.state_dict().items():
        found = loaded.net.state_dict()[name]
        assert found.dtype == tensor.dtype and torch.equal(found, tensor)
    planes = torch.from_numpy(random_planes(GAME, 10))
    for found, expected in zip(loaded.net.eval()(planes), net.eval()(planes), strict=True):
        assert torch.equal(found, expected)


def test_a_checkpoint_says_which_torch_and_which_format(saved):
    assert (read_card(saved).torch_version, read_card(saved).format) == (torch.__version__, FORMAT)


def test_the_same_net_gives_the_same_bytes(saved, tmp_path):
    again = tmp_path / "again.safetensors"
    write_checkpoint(again, make_net(GAME, TINY), CARD)
    assert again.read_bytes() == saved.read_bytes()
    write_checkpoint(again, load_checkpoint(saved).net, load_checkpoint(saved).card)
    assert again.read_bytes() == saved.read_bytes()


def test_the_digest_tells_nets_and_cards_apart(saved, tmp_path):
    digests = {load_checkpoint(saved).digest}
    for net, card in [(make_net(GAME, TINY, seed=1), CARD), (make_net(GAME, TINY), replace(CARD, step=1201))]:
        write_checkpoint(tmp_path / "other", net, card)
        digests.add(load_checkpoint(tmp_path / "other").digest)
    assert len(digests) == 3


def test_no_name_of_a_tensor_holds_another_tensor(saved, tmp_path):
    """The digests of these two files would be equal, and a digest is the name under which a net is known."""
    card, tensors = read_tensors(saved, "it")
    del card["digest"]
    tensors["policy.bias"][:] = 0.0
    name = (
        f"policy.bias torch.float32 {tensors['policy.bias'].shape}"
        + tensors["policy.bias"].tobytes().decode()
        + "policy.weight"
    )
    other = {key: each for key, each in tensors.items() if key not in ("policy.bias", "policy.weight")}
    other[name] = tensors["policy.weight"]
    assert digest_of(other, card) == digest_of(tensors, card)
    with pytest.raises(BadInput, match="is not written: a tensor has the name .*; names cannot have spaces"):
        write_tensors(tmp_path / "net", other, card)
    signed = card | {"digest": digest_of(other, card)}
    (tmp_path / "net").write_bytes(save(other, {"azero": json.dumps(signed)}))
    assert refusal(tmp_path / "net").endswith("is not one of azero's: the name of a tensor has a space")


def test_a_file_is_replaced_whole_and_folders_are_made(saved, tmp_path):
    path = tmp_path / "new" / "folder" / "best.safetensors"
    for step in (1, 2):
        write_checkpoint(path, make_net(GAME, TINY), replace(CARD, step=step))
        assert read_card(path).step == step
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_right_game_is_accepted_and_another_refused(saved):
    assert load_checkpoint(saved, make_game("connect_four(columns=5,rows=4)")).game == GAME
    for other in ("connect_four", "connect_four(rows=5,columns=4)", "tic_tac_toe"):
        assert f" plays connect_four(rows=4,columns=5), not {other}" in refusal(saved, make_game(other))


def test_cards_of_any_length_come_back(tmp_path):
    """A file begins with the length of its header, a multiple of eight. No length makes it look like another format."""
    for padding in range(32):
        card = replace(CARD, torch_version="x" * 8 * padding)
        write_checkpoint(tmp_path / "net", make_net(GAME, TINY), card)
        assert load_checkpoint(tmp_path / "net").card == card


def holding(text: bytes, size: int = 0):
    """Returns what writes a file of this text, with a hole after it, which takes no room, up to `size` bytes."""

    def write(path: Path) -> None:
        path.write_bytes(text)
        if size:
            os.truncate(path, size)

    return write


OTHERS = [b"x", b"{}", b"connect four\n" * 100, b"\0" * 100, b"\xff" * 100, b"PK", b"\x89PNG\r\n"]
FILES = {
    "missing": (lambda path: None, "cannot be read: No such file or directory"),
    "a folder": (Path.mkdir, "cannot be read: Is a directory"),
    "empty": (Path.touch, "is empty"),
    **{f"{text[:9]!r}": (holding(text), "") for text in OTHERS},
    "a large header": (holding((3 << 20).to_bytes(8, "little") + b"{"), "is not one of azero's: its header has"),
    "a huge header": (holding((1 << 62).to_bytes(8, "little") + b"{"), "is not one of azero's: its header has"),
    "large": (holding((100).to_bytes(8, "little") + b"{", 2 << 30), "is not one of azero's: its file has"),
}
if hasattr(os, "mkfifo"):
    FILES["a pipe"] = os.mkfifo, "cannot be read: it is not a regular file"


@pytest.mark.parametrize("kind", FILES)
def test_what_is_no_checkpoint_is_refused_before_it_is_read(kind, tmp_path):
    make, told = FILES[kind]
    make(tmp_path / "net")
    assert told in refusal(tmp_path / "net")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(copy):
    copy.chmod(0)
    assert refusal(copy).endswith("cannot be read: Permission denied")


def test_a_file_cut_short_anywhere(saved, tmp_path):
    data, path = saved.read_bytes(), tmp_path / "cut"
    for length in [*range(1, 40), *range(40, len(data), 61), len(data) - 1]:
        path.write_bytes(data[:length])
        refusal(path)
    path.write_bytes(data + b"\0")
    refusal(path)


@pytest.mark.thorough
@pytest.mark.parametrize("mask", [*long(0x01, 0x20), 0x80])
def test_a_flipped_bit_anywhere(saved, tmp_path, mask):
    """A bit is flipped in the header's length, the card, the table of tensors or the weights."""
    data, path = saved.read_bytes(), tmp_path / "flipped"
    header = 8 + int.from_bytes(data[:8], "little")
    for place in [*range(0, header, 1 if mask == 0x01 else 5), *range(header, len(data), 3)]:
        path.write_bytes(data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :])
        refusal(path)


class Bomb:
    """Creates a folder if it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def torch_save(value, **how) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, **how)
    return buffer.getvalue()


def torch_load(data: bytes) -> object:
    return torch.load(io.BytesIO(data), weights_only=False)


PICKLES = {f"protocol {each}": (lambda bomb, each=each: pickle.dumps(bomb, each), pickle.loads) for each in range(6)}
PICKLES |= {
    "torch.save": (torch_save, torch_load),
    "torch.save of old": (lambda bomb: torch_save(bomb, _use_new_zipfile_serialization=False), torch_load),
}


@pytest.mark.parametrize("kind", PICKLES)
def test_a_pickle_is_refused_and_not_run(kind, tmp_path):
    dump, load = PICKLES[kind]
    data, path, bomb = dump(Bomb(tmp_path / "bomb")), tmp_path / "net", tmp_path / "bomb"
    path.write_bytes(data)
    message = refusal(path)
    assert not bomb.exists()
    named = "is a pickle, which could run code and is never loaded; azero writes .safetensors"
    assert message.endswith(named) or kind in ("protocol 0", "protocol 1")
    load(data)
    assert bomb.exists(), "unpickling should create the folder"


def test_a_safetensors_file_of_another_program(copy):
    save_file(load_file(copy), copy)
    assert refusal(copy).endswith("is a safetensors file, but not one of azero's: it has no card")
    save_file(load_file(copy), copy, {"format": "pt"})
    assert refusal(copy).endswith("it has no card")


@pytest.mark.parametrize("card", ["", "{", "[]", "1", "null", "{}", '"text"', '{"format": 1}', "[" * 100_000])
def test_a_card_that_is_none(copy, card):
    save_file(load_file(copy), copy, {"azero": card})
    assert len(refusal(copy)) < 400


@pytest.mark.parametrize(
    "changed",
    [
        {"digest": NONE},
        {"digest": "0" * 64},
        {"digest": 5},
        {"step": 1201},
        {"game": "tic_tac_toe"},
        {"net": {}},
    ],
)
def test_a_card_that_was_changed(copy, changed):
    rewrite(copy, **changed)
    assert "damaged" in refusal(copy)


CARDS = [
    *(
        ({"format": other}, f"has format {other!r}; this version of azero reads format {FORMAT}")
        for other in (0, 2, "1", [1])
    ),
    *(({name: NONE}, f"its card has no field {name!r}") for name in ("game", "search", "format")),
    ({"colour": "blue"}, "its card has an unknown field 'colour'"),
    (
        {"net": TINY.model_dump(mode="json") | {"width": 3}, "search": {"c_put": 1.0, "c_puct": 2.0}},
        "is of another version of azero: it has net.width, search.c_put",
    ),
    *(
        ({field: value}, f"its card says {field} = {value!r}, which should be {right}")
        for right, wrong in {
            "a text": [("game", 5), ("torch_version", 2), ("game_digest", 1)],
            "an object": [("net", [1, 2]), ("search", None)],
            "a whole number, 0 or more": [
                *(("iteration", "7"), ("step", 1.5), ("positions", True), ("positions", -1), ("seed", None)),
            ],
            "a finite number": [("rating", "high"), ("rating", float("nan"))],
        }.items()
        for field, value in wrong
    ),
]


@pytest.mark.parametrize(("changed", "told"), CARDS, ids=lambda each: str(each)[:40])
def test_a_card_with_other_fields_is_refused(copy, changed, told):
    """By a program that writes digests, but wrong cards."""
    sign(copy, **changed)
    assert refusal(copy).endswith(told)


def test_a_rating_may_be_written_as_a_whole_number(tmp_path):
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY), replace(CARD, rating=12))
    assert load_checkpoint(tmp_path / "net").card.rating == 12


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite(value, tmp_path):
    net = make_net(GAME, TINY)
    name, tensor = next(iter(net.state_dict().items()))
    tensor.view(-1)[1] = value
    write_checkpoint(tmp_path / "net", net, CARD)
    assert refusal(tmp_path / "net").endswith(f"cannot be used: {name} has values that are not finite numbers")


@pytest.mark.parametrize("is_huge", [False, True])
def test_finite_weights_of_which_comes_nothing_finite(is_huge, tmp_path):
    net = make_net(GAME, TINY)
    for name, tensor in net.state_dict().items():
        if is_huge and name.endswith("weight"):
            tensor.fill_(1e30)
        elif name == "stem.norm.running_var":
            tensor.fill_(-1.0)
    write_checkpoint(tmp_path / "net", net, CARD)
    assert refusal(tmp_path / "net").endswith("cannot be used: its net's outputs are not finite numbers")


def test_weights_of_another_dtype(tmp_path):
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY).double(), CARD)
    assert refusal(tmp_path / "net").endswith(" is of torch.float64; it should be of torch.float32")


def test_settings_that_a_card_lacks_have_their_defaults(tmp_path):
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY), replace(CARD, search={"c_puct": 2.0}))
    assert load_checkpoint(tmp_path / "net").card.search == {"c_puct": 2.0}


@pytest.mark.parametrize(
    ("card", "what"),
    [
        (replace(CARD, net=TINY.model_dump(mode="json") | {"channels": 4}), " is "),
        (
            replace(CARD, net=TINY.model_dump(mode="json") | {"blocks": 2}),
            "not there, and in the net that the card describes ",
        ),
        (replace(CARD, net=TINY.model_dump(mode="json") | {"blocks": 0}), "setting blocks = 0 should be"),
        (replace(CARD, search={"c_puct": "much"}), "setting c_puct = 'much' should be a number"),
        (replace(CARD, game="connect_four"), " is "),
    ],
)
def test_weights_that_do_not_fit_the_card(card, what, tmp_path):
    """By a program that writes digests, but wrong cards."""
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY), card)
    told = refusal(tmp_path / "net")
    assert "does not fit its own card" in told and what in told and "\n" not in told


def test_a_card_of_a_huge_net_takes_no_memory(tmp_path):
    resource = pytest.importorskip("resource", reason="Windows does not have it")
    card = replace(CARD, net=TINY.model_dump(mode="json") | {"blocks": 80, "channels": 1024})
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY), card)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "does not fit its own card" in refusal(tmp_path / "net")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "in KiB"


def test_a_card_of_an_unknown_game(tmp_path):
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY), replace(CARD, game="connect_five"))
    assert "unknown game 'connect_five'; did you mean 'connect_four'" in refusal(tmp_path / "net")
    write_checkpoint(tmp_path / "net", make_net(GAME, TINY), replace(CARD, game="connect five"))
    assert "game 'connect five' is not of the form name" in refusal(tmp_path / "net")


def test_reading_the_card_alone_refuses_the_same_files(tmp_path):
    (tmp_path / "net").write_bytes(pickle.dumps(asdict(CARD)))
    for path in (tmp_path / "net", tmp_path / "none"):
        with pytest.raises(BadInput):
            read_card(path)


# --- users' games ---

LAST_LOSES = ("return WIN if state.ply & 1 else LOSS", "return LOSS if state.ply & 1 else WIN")


@pytest.fixture
def nim(monkeypatch, tmp_path) -> Path:
    """A checkpoint in the working folder, for a game from a file there."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "nim.py", NIM)
    game = make_game("nim.py:Nim(heap=5)")
    card = replace(CARD, game=str(game), game_digest=source_digest_of(game.rules))
    write_checkpoint(tmp_path / "nim.safetensors", make_net(game, TINY), card)
    return Path("nim.safetensors")


def test_a_card_of_a_user_s_game_holds_its_file_s_digest(nim, capsys):
    card, game = read_card(nim), make_game("nim.py:Nim(heap=5)")
    assert card.game == "nim.py:Nim(heap=5)" and card.game_digest == source_digest_of(game.rules) != ""
    assert load_checkpoint(nim).game == load_checkpoint(nim, game).game == game
    assert load_checkpoint(nim).card == card and capsys.readouterr() == ("", "")


def test_that_a_game_s_file_has_changed_is_told_on_stderr(nim, capsys):
    write_file(Path("nim.py"), NIM, LAST_LOSES)
    loaded = load_checkpoint(nim, make_game("nim.py:Nim(heap=5)"))
    assert capsys.readouterr() == (
        "", "azero: nim.py:Nim(heap=5) has changed since checkpoint 'nim.safetensors' was made\n"
    )  # fmt: skip
    assert loaded.game.state_from_moves("2 0 0").returns() == [-1, 1], "the current rules should be used"
    write_file(Path("nim.py"), NIM)
    load_checkpoint(nim)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["nim.py:Nim(heap=5)", " nim.py : Nim(heap=5)"])
def test_a_card_alone_has_no_file_run_but_the_one_it_was_made_with(nim, name):
    card = replace(read_card(nim), game=name)
    net = load_checkpoint(nim).net
    Path("nim.py").write_text("open('was_run', 'w')\n")
    for digest in (card.game_digest, "", "0" * 16):
        write_checkpoint(nim, net, replace(card, game_digest=digest))
        assert refusal(nim) == (
            "checkpoint 'nim.safetensors' plays nim.py:Nim(heap=5), and that file has changed since; "
            "to use the changed file, name it with --game 'nim.py:Nim(heap=5)'"
        )
    assert not Path("was_run").exists()


def test_a_game_of_another_shape_than_the_net_s_is_told(nim):
    write_file(Path("nim.py"), NIM, ("return 1, 1, game.heap", "return 2, 1, game.heap"), ("planes[0, ", "planes[:, "))
    assert refusal(nim, make_game("nim.py:Nim(heap=5)")) == (
        "checkpoint 'nim.safetensors' does not fit nim.py:Nim(heap=5), which has changed since it was made: "
        "its planes, now 2x1x5, or its actions, now 3, do not have the net's shape"
    )


def test_a_game_s_file_that_is_gone_is_told_with_what_to_do(nim):
    Path("nim.py").unlink()
    assert refusal(nim) == (
        "checkpoint 'nim.safetensors': game file 'nim.py' cannot be read: No such file or directory; it plays "
        "nim.py:Nim(heap=5); name the file's place, e.g. --game 'path/to/nim.py:Nim(heap=5)'"
    )


def test_a_game_s_file_may_lie_elsewhere(nim, capsys, monkeypatch):
    Path("rules").mkdir()
    Path("nim.py").rename("rules/nim.py")
    forget_files(monkeypatch)
    game = make_game("rules/nim.py:Nim(heap=5)")
    assert load_checkpoint(nim, game).game == game and capsys.readouterr() == ("", "")
    for other, told in (
        ("rules/nim.py:Nim(heap=6)", "plays nim.py:Nim(heap=5), not rules/nim.py:Nim(heap=6): heap is 5, not 6"),
        ("tic_tac_toe", "plays nim.py:Nim(heap=5), not tic_tac_toe"),
    ):
        assert refusal(nim, make_game(other)).endswith(told)
    write_file(Path("rules/nim.py"), NIM, LAST_LOSES)
    load_checkpoint(nim, make_game("rules/nim.py:Nim(heap=5)"))
    assert "azero: rules/nim.py:Nim(heap=5) has changed since" in capsys.readouterr().err


def test_a_file_of_another_name_is_another_game(nim, monkeypatch):
    Path("nim.py").rename("mine.py")
    forget_files(monkeypatch)
    game = make_game("mine.py:Nim(heap=5)")
    assert refusal(nim, game).endswith("plays nim.py:Nim(heap=5), not mine.py:Nim(heap=5)")


def test_cards_of_azero_s_games_are_as_they_were_before_there_were_others(saved, nim):
    """Cards of azero's games get no new fields, so the digests of older checkpoints stay valid."""
    written = json.loads(header_of(saved)["__metadata__"]["azero"])
    assert "game_digest" not in written and read_card(saved).game_digest == ""
    of_files = {f"{kind}_{what}" for kind in ("game", "net", "rule", "root") for what in ("digest", "file")}
    assert set(written) == set(asdict(CARD)) - {"root", *of_files} | {"digest"}
    assert "game_digest" in json.loads(header_of(nim)["__metadata__"]["azero"])


@pytest.mark.parametrize("digest", [NONE, "", "0" * 16])
def test_a_digest_of_a_game_s_file_that_was_changed_is_damage(nim, digest):
    rewrite(nim, game_digest=digest)
    assert "damaged" in refusal(nim)


# --- checkpoints made in Python: new nets, and nets trained by a loop of one's own ---


SMALL = {"net.blocks": 1, "net.channels": 8, "net.value_hidden": 8}
NEW = azero.load_config("tic_tac_toe", SMALL)
TIC_TAC_TOE = azero.make_game("tic_tac_toe")
STATES = [
    TIC_TAC_TOE.new_initial_state(),
    TIC_TAC_TOE.state_from_moves("a1 b2"),
    TIC_TAC_TOE.state_from_moves("a1 b1 a2 b2 c3"),
]


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
    path, checkpoint = tmp_path / "mine.safetensors", trained(azero.new_checkpoint(NEW))
    policies, values = checkpoint.evaluate(STATES[:1])
    assert policies.argmax() == 4 and policies[0, 4] > 0.5 and values[0] > 0.5
    azero.save_checkpoint(path, checkpoint.net, replace(checkpoint.card, step=20))
    loaded = azero.load_checkpoint(str(path))
    assert (loaded.card.step, loaded.game) == (20, TIC_TAC_TOE)
    for one, other in zip(checkpoint.evaluate(STATES), loaded.evaluate(STATES), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    code, out, _ = run_azero("suggest", f"{path}@16")
    assert code == 0 and "best: b2" in out


def test_an_evaluator_keeps_its_weights_and_serves_a_search():
    checkpoint = azero.new_checkpoint(NEW)
    before = checkpoint.evaluator()
    planes = np.stack([state.planes() for state in STATES])
    trained(checkpoint)
    (old, _), (new, values) = before(planes), checkpoint.evaluator("cpu")(planes)
    assert not old.any() and new.any() and values.shape == (3,) and (np.abs(values) <= 1).all()
    result = azero.Search(TIC_TAC_TOE, checkpoint.evaluator(), 30).run(STATES)
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
        ({"net": NEW.net.model_dump() | {"channels": 9}}, "in the net that the card describes"),
    ],
)
def test_a_net_that_does_not_fit_its_card_is_not_written(tmp_path, card, message):
    checkpoint = azero.new_checkpoint(NEW)
    with pytest.raises(azero.BadInput, match=rf"^checkpoint '[^\n]*' is not written: [^\n]*{message}[^\n]*$"):
        azero.save_checkpoint(tmp_path / "net.safetensors", checkpoint.net, replace(checkpoint.card, **card))
    assert not list(tmp_path.iterdir())


def test_a_net_of_nan_and_what_is_no_net_are_not_written(tmp_path):
    checkpoint = azero.new_checkpoint(NEW)
    with pytest.raises(azero.BadInput, match="the net is a Linear; it should come from"):
        azero.save_checkpoint(tmp_path / "net.safetensors", torch.nn.Linear(1, 1), checkpoint.card)
    with torch.no_grad():
        next(checkpoint.net.parameters()).fill_(torch.nan)
    with pytest.raises(azero.BadInput, match="is not written: .* not finite numbers"):
        azero.save_checkpoint(tmp_path / "net.safetensors", checkpoint.net, checkpoint.card)
    assert not list(tmp_path.iterdir())


def test_bad_positions_are_refused():
    checkpoint = azero.new_checkpoint(NEW)
    for states, message in (
        ([], "positions are needed"),
        ([TIC_TAC_TOE.state_from_moves("a1 b1 a2 b2 a3")], "end of a game"),
    ):
        with pytest.raises(azero.BadInput, match=message):
            checkpoint.evaluate(states)
    with pytest.raises(azero.BadInput, match="^device 'gpu' should be"):
        checkpoint.evaluator("gpu")
