"""Tests of settings: bad ones are named in one line, and good ones survive a round trip through TOML."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azero.config.reading import check_config, check_device, find_config, load_config
from azero.config.schema import Config, GameConfig
from azero.config.text import config_to_toml, settings
from azero.errors import BadInput

GAME = {"name": "tic_tac_toe"}
CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.toml"))


def refusal(tables: dict) -> str:
    """Returns the error, one line, with which settings are refused."""
    with pytest.raises(BadInput) as error:
        check_config(tables)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text('seed = 3\n[game]\nname = "tic_tac_toe"\n[net]\nblocks = 2\n')
    return path


def test_what_is_left_out_has_its_default():
    config = check_config({"game": GAME, "net": {"blocks": 2}})
    assert config == Config(game=GameConfig(name="tic_tac_toe"), net=config.net)
    assert (config.net.blocks, config.net.channels, config.seed) == (2, 64, 0)


@pytest.mark.parametrize("setting", [("seed",), ("net", "blocks")])
def test_settings_are_frozen(setting):
    config = check_config({"game": GAME})
    holder = config if len(setting) == 1 else getattr(config, setting[0])
    with pytest.raises(ValueError, match="frozen"):
        setattr(holder, setting[-1], 1)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "setting 'game' is missing"),
        ({"game": {}}, "setting 'game.name' is missing"),
        ({"game": GAME, "sed": 1}, "unknown setting 'sed'; did you mean 'seed'? known: cluster, device, "),
        ({"game": GAME, "selfplai": {}}, "unknown setting 'selfplai'; did you mean 'selfplay'? known: cluster, "),
        ({"game": GAME | {"nam": "x"}}, "unknown setting 'game.nam'; did you mean 'name'? known: name"),
        (
            {"game": GAME, "net": {"block": 2}},
            "unknown setting 'net.block'; did you mean 'blocks'? known: blocks, channels, ",
        ),
        ({"game": GAME, "net": {"qqq": 2}}, "unknown setting 'net.qqq'; known: blocks, channels, "),
        ({"game": GAME, "net": {"a\nb": 2}}, r"unknown setting 'net.a\nb'; known: blocks, channels, "),
        ({"game": GAME, "search": {"cpuct": 1}}, "unknown setting 'search.cpuct'; did you mean 'c_puct'? known: "),
        (
            {"game": GAME, "net": {"blocks": 0}},
            "setting net.blocks = 0 should be greater than or equal to 1",
        ),
        (
            {"game": GAME, "net": {"blocks": 2.5}},
            "setting net.blocks = 2.5 should be an integer",
        ),
        (
            {"game": GAME, "net": {"blocks": "many"}},
            "setting net.blocks = 'many' should be an integer",
        ),
        ({"game": GAME, "net": 5}, "setting net = 5 should be a table of settings"),
        ({"game": "tic_tac_toe"}, "setting game = 'tic_tac_toe' should be a table of settings"),
        ({"game": {"name": 5}}, "setting game.name = 5 should be text"),
        (
            {"game": GAME, "search": {"c_puct": 0}},
            "setting search.c_puct = 0 should be greater than 0",
        ),
        (
            {"game": GAME, "search": {"fpu": "none"}},
            "setting search.fpu = 'none' should be 'reduced' ",
        ),
        (
            {"game": GAME, "search": {"prove": "perhaps"}},
            "setting search.prove = 'perhaps' should be true or false",
        ),
        (
            {"game": GAME, "search": {"c_uct": float("nan")}},
            "setting search.c_uct = nan should be a finite number",
        ),
        ({"game": GAME, "seed": -1}, "setting seed = -1 should be greater than or equal to 0"),
        ({"game": GAME, "seed": 1 << 63}, "setting seed = 9223372036854775808 should be less than"),
        (
            {"game": GAME, "device": {"device": "gpu"}},
            "setting device.device = 'gpu' should be 'auto', ",
        ),
        (
            {"game": GAME, "net": {"channels": 1, "global_context": "pool"}},
            "net.channels = 1 should be 2 or more if net.global_context = pool",
        ),
    ],
)
def test_what_is_wrong_is_named_in_one_line(tables, message):
    assert refusal(tables).startswith(message)


def limits_of(field):
    """Yields values just outside a setting's range."""
    for limit in field.metadata:
        for name, step in (("ge", -1), ("gt", 0), ("le", 1), ("lt", 0)):
            if hasattr(limit, name):
                yield getattr(limit, name) + step


def numeric_settings():
    return [(section, key, value) for section, key, field in settings() for value in limits_of(field)]


@pytest.mark.parametrize(("section", "key", "value"), numeric_settings())
def test_limits_are_kept(section, key, value):
    tables = {"game": GAME, section: {key: value}} if section else {"game": GAME, key: value}
    name = f"{section}.{key}" if section else key
    assert refusal(tables).startswith(f"setting {name} = {value} should be ")


def test_every_setting_says_what_it_does():
    for section, key, field in settings():
        assert field.description and field.description.endswith("."), (section, key)


@pytest.mark.parametrize("shipped", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_shipped_configs_are_good(shipped):
    assert find_config(shipped.stem) == shipped
    assert isinstance(load_config(shipped), Config)


def test_a_config_is_found_by_path_or_name(path, monkeypatch):
    assert find_config(str(path)) == path
    monkeypatch.chdir(path.parent)
    assert find_config("run.toml").read_text() == path.read_text()


def test_a_config_that_is_not_found():
    with pytest.raises(BadInput) as error:
        find_config("conect_four_quick")
    start = "config 'conect_four_quick' is not a file and not an included config; did you mean 'connect_four_quick'?"
    assert str(error.value).startswith(start)


@pytest.mark.parametrize(
    ("override", "section", "key", "value"),
    [
        ("net.blocks=3", "net", "blocks", 3),
        (" net.blocks = 3 ", "net", "blocks", 3),
        ("training.learning_rate=1e-3", "training", "learning_rate", 0.001),
        ("search.prove=false", "search", "prove", False),
        ('game.name="connect_four"', "game", "name", "connect_four"),
        ("game.name=connect_four", "game", "name", "connect_four"),
        ("game.name=connect_four(rows=5,columns=6)", "game", "name", "connect_four(rows=5,columns=6)"),
        ("evaluation.opponent=gtp:gnugo --mode gtp", "evaluation", "opponent", "gtp:gnugo --mode gtp"),
        ("search.fpu=absolute", "search", "fpu", "absolute"),
    ],
)
def test_overrides(path, override, section, key, value):
    config = load_config(path, [override])
    assert getattr(getattr(config, section), key) == value
    assert config.seed == 3, "other settings should come from the file"


def test_a_game_s_file_is_found_from_here_and_from_beside_the_toml(path, monkeypatch):
    path.write_text('[game]\nname = "rules/my.py:My(size=5)"\n')
    (path.parent / "rules").mkdir()
    (path.parent / "here").mkdir()
    monkeypatch.chdir(path.parent / "here")
    assert load_config(path).game.name == "rules/my.py:My(size=5)"
    (path.parent / "rules" / "my.py").touch()
    assert load_config(path).game.name == f"{path.parent}/rules/my.py:My(size=5)"
    assert load_config(Path("../run.toml")).game.name == "../rules/my.py:My(size=5)"
    assert load_config(path, ["game.name=rules/my.py:My"]).game.name == "rules/my.py:My"
    (path.parent / "here" / "rules").mkdir()
    (path.parent / "here" / "rules" / "my.py").touch()
    assert load_config(path).game.name == "rules/my.py:My(size=5)"


def test_the_last_override_holds(path):
    assert load_config(path, ["seed=4", "net.blocks=7", "seed=5"]).seed == 5


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "--set 'seed' should be of the form section.key=value, e.g. training.iterations=10"),
        ("=5", "--set '=5' should be of the form section.key=value, e.g. training.iterations=10"),
        ("net.=5", "--set 'net.=5' should be of the form section.key=value, e.g. training.iterations=10"),
        ("seed.x=5", "--set 'seed.x=5': 'seed' is a setting, not a section"),
        ("game.name.x=5", "--set 'game.name.x=5': 'name' is a setting, not a section"),
        ("net.block=5", "unknown setting 'net.block'; did you mean 'blocks'? known: "),
        (".blocks=5", "unknown setting ''; known: "),
        ("net=5", "setting net = 5 should be a table of settings"),
        ("net.blocks=", "setting net.blocks = '' should be an integer"),
        ("net.blocks=six", "setting net.blocks = 'six' should be an integer"),
        ("net.blocks=[1, 2]", "setting net.blocks = [1, 2] should be an integer"),
        ("seed=5\nnet.blocks=7", "setting seed = '5\\nnet.blocks=7' should be an integer"),
    ],
)
def test_bad_overrides(path, override, message):
    with pytest.raises(BadInput) as error:
        load_config(path, [override])
    assert str(error.value).startswith(message) and len(str(error.value).splitlines()) == 1


@given(
    st.text(max_size=30) | st.from_regex(r"(net|game|seed)\.?[a-z_.]{0,8}=[-0-9a-z.\[\]{}\"' ]{0,8}", fullmatch=True)
)
def test_any_override_is_a_setting_or_one_line_of_bad_input(tmp_path_factory, override):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text('[game]\nname = "tic_tac_toe"\n')
    try:
        load_config(path, [override])
    except BadInput as error:
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize("text", ["seed = ", "[net", "seed = 1\nseed = 2", "\0", "seed = 0123", "[[net]]\nblocks = 1"])
def test_a_file_that_is_no_toml_or_no_table(tmp_path, text):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        load_config(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"seed = 0x{'f' * 60_000}", "is not TOML: it has an integer of more than 64 bits"),
        ("net.blocks = [-9223372036854775809]", "is not TOML: it has an integer of more than 64 bits"),
        (f"# a comment {'.' * 999}\n{'a.' * 20_000}a = 1", "is not TOML: line 2 has more than 100 dots"),
        ("#" * 70_000, "cannot be read: it has more than 65,536 bytes"),
    ],
)
def test_a_file_that_would_take_long_to_read_or_to_show(tmp_path, text, fault):
    path = tmp_path / "large.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        load_config(path)
    assert str(error.value) == f"config {str(path)!r} {fault}"


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'[game]\nname = "f\xfcnf"\n')
    for path, message in [
        (tmp_path / "none.toml", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / "latin.toml", "is not TOML: 'utf-8' codec can't decode"),
    ]:
        with pytest.raises(BadInput) as error:
            load_config(path)
        assert f"config {str(path)!r} {message}" in str(error.value)


def test_a_device_named_on_the_command_line():
    assert check_device("cpu", "bf16").precision == "bf16"
    for device, precision, message in [
        ("gpu", "auto", "device 'gpu' should be 'auto', 'cpu', 'cuda' or 'mps'"),
        ("cpu", "fp16", "precision 'fp16' should be 'auto', 'fp32', 'bf16' or 'int8'"),
    ]:
        with pytest.raises(BadInput) as error:
            check_device(device, precision)
        assert str(error.value) == message


def written_and_read(config: Config, folder: Path) -> Config:
    path = folder / "config.toml"
    path.write_text(config_to_toml(config), encoding="utf-8")
    return load_config(path)


@pytest.mark.parametrize("shipped", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_settings_come_back_from_their_toml(shipped, tmp_path):
    config = load_config(shipped)
    assert written_and_read(config, tmp_path) == config


def test_toml_has_every_setting_below_what_it_does():
    config = check_config({"game": GAME, "seed": 9})
    text = config_to_toml(config)
    assert tomllib.loads(text) == {"format": 1, **config.model_dump(mode="json")}
    for _, key, field in settings():
        assert f"# {field.description}\n{key} = " in text
    assert "# Residual blocks. Paper: 19.\nblocks = 5\n" in text


@given(
    name=st.text(st.characters(exclude_categories=["Cs"])),
    rate=st.floats(min_value=1e-300, max_value=10),
    base=st.floats(min_value=1, max_value=1e300),
    seed=st.integers(0, 2**63 - 1),
    prove=st.booleans(),
)
def test_any_settings_come_back_from_their_toml(tmp_path_factory, name, rate, base, seed, prove):
    tables = {"game": {"name": name}, "training": {"learning_rate": rate}, "seed": seed}
    config = check_config(tables | {"search": {"prove": prove, "c_puct_base": base}})
    assert written_and_read(config, tmp_path_factory.getbasetemp()) == config
