"""Tests of settings that no longer exist: files that name them load, and `--set` refuses them."""

import tomllib

import pytest

from azero.config.deleted import DELETED, DELETED_HEADS, drop_deleted
from azero.config.reading import check_config, load_config
from azero.config.text import settings
from azero.errors import BadInput
from azero.system import formats

GAME = '[game]\nname = "tic_tac_toe"\n'
DEFAULTS = """
[selfplay]
resign_error = 0
resign_played_on_share = 0.1
forced_playouts = 0.0
keep_tree = true
random_symmetry = true
[replay]
reanalysed_share = 0.0
[training]
reply_loss_weight = 0.0
plies_left_loss_weight = 0.0
short_term_loss_weight = 0.0
root_value_weight = 0.0
learn_proven = false
[gate]
method = "win_rate"
elo0 = 0.0
elo1 = 50.0
"""


@pytest.fixture(autouse=True)
def new_warnings():
    formats.warn_once.cache_clear()


@pytest.fixture
def config(tmp_path):
    """Writes a config of tic_tac_toe with more tables; returns its path."""

    def write(tables):
        path = tmp_path / "old.toml"
        path.write_text(GAME + tables)
        return path

    return write


@pytest.mark.parametrize("is_of_run", [False, True])
def test_at_their_defaults_they_are_dropped_in_silence(config, capsys, is_of_run):
    named = {f"{section}.{key}" for section, own in tomllib.loads(DEFAULTS).items() for key in own}
    assert named == set(DELETED), "the test should name all of them"
    assert load_config(config(DEFAULTS), is_of_run=is_of_run) == check_config({"game": {"name": "tic_tac_toe"}})
    assert capsys.readouterr().err == ""


def test_a_run_that_lacks_a_setting_goes_on_as_it_began(config):
    assert load_config(config("[training]\niterations = 5\n"), is_of_run=True).training.value_lambda == 1.0
    assert load_config(config("[training]\nvalue_lambda = 0.8\n"), is_of_run=True).training.value_lambda == 0.8
    assert load_config(config("[training]\n")).training.value_lambda == 0.9


@pytest.mark.parametrize("is_of_run", [False, True])
def test_at_other_values_each_is_ignored_with_one_line(config, capsys, is_of_run):
    path = config("")
    path.write_text(f"selfplay.forced_playouts = 2\nselfplay.keep_tree = false\nselfplay.num_simulations = 9\n{GAME}")
    for _ in range(2):
        loaded = load_config(path, ["net.blocks=2"], is_of_run=is_of_run)
        assert (loaded.selfplay.num_simulations, loaded.net.blocks) == (9, 2)
    assert capsys.readouterr().err.splitlines() == [
        "azero: setting selfplay.forced_playouts = 2 no longer exists and is ignored: "
        "it showed no gain (docs/learning.md)",
        "azero: setting selfplay.keep_tree = False no longer exists and is ignored: "
        "it is always true (docs/learning.md)",
    ]


@pytest.mark.parametrize("name", DELETED)
def test_on_the_command_line_they_are_refused_in_one_line(config, name):
    section, key = name.split(".")
    for override in (f"{name}=1", f"{section}={{{key}=1}}"):
        with pytest.raises(BadInput) as error:
            load_config(config(""), [override])
        assert str(error.value) == f"setting {name} no longer exists: {DELETED[name].why}"


def test_a_value_that_no_longer_exists_is_refused_in_one_line(config):
    message = "setting net.global_context = 'se_bias' no longer exists (docs/learning.md); it should be 'none', "
    for tables, overrides in (('[net]\nglobal_context = "se_bias"\n', []), ("", ["net.global_context=se_bias"])):
        with pytest.raises(BadInput) as error:
            load_config(config(tables), overrides)
        assert str(error.value).startswith(message)
    with pytest.raises(BadInput, match="^setting net.global_context = 'x' should be 'none', "):
        load_config(config(""), ["net.global_context=x"])
    with pytest.raises(BadInput, match="^setting net.blocks = None should be an integer"):
        check_config({"game": {"name": "tic_tac_toe"}, "net": {"blocks": None}})


def test_a_misspelt_setting_is_still_an_error(config):
    with pytest.raises(BadInput, match="^unknown setting 'selfplay.forced_playout'"):
        load_config(config("[selfplay]\nforced_playout = 2\n"))


def test_what_is_no_table_is_left_to_the_checks(capsys):
    odd = {"selfplay": 5, "replay": {"reanalysed_share": {"x": "y" * 5000}}, "gate": []}
    assert drop_deleted(odd) == {"selfplay": 5, "replay": {}, "gate": []}
    assert len(capsys.readouterr().err) < 300
    assert odd["replay"], "the argument should stay as it is"


def test_deleted_settings_are_gone():
    assert not {f"{section}.{key}" for section, key, _ in settings()} & set(DELETED)
    assert DELETED_HEADS == ("reply", "plies_left", "short_term")
