"""Tests of the command line: bad input is refused in one line with exit code 2; help, output and JSON."""

import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import typer
from arena.agents import SUGGESTION_FIELDS, write_checkpoint, write_engine
from command_line import assert_bad_input
from safetensors.torch import save_file
from selfplay.games import CONNECT_FOUR, TIC_TAC_TOE, some_games
from training.runs import tiny_config, write_config

import azero
from azero.commands.app import app
from azero.compiler.jit import IS_COMPILED
from azero.config.reading import find_config
from azero.mcts import rollout_named
from azero.records import read_records
from azero.runs.settings import write_settings
from azero.runs.shards import save_shard
from azero.system.tensor_files import read_tensors, write_tensors

COMMANDS = ["train", "train-rollout", "compare", "evaluate", "suggest", "play", "games", "bench"]
needs_posix = pytest.mark.skipif(os.name != "posix", reason="it sends SIGINT")
GAME = ["--game", "tic_tac_toe"]
SUGGEST_UCT = ["suggest", "uct", *GAME]
SUGGEST, EVALUATE = ["suggest", "uct@20", *GAME], ["evaluate", "uct@20", "--against", "random", *GAME]


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("cli") / "net.safetensors")


def contents(folder):
    return {str(path): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


# --- bad input: names and numbers ---


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        # games
        (["suggest", "uct", "--game", "conect_four"], ["unknown game 'conect_four'", "did you mean 'connect_four'?"]),
        (["suggest", "uct", "--game", "connect_four(rows=99)"], ["rows=99", "4 to 8"]),
        (["suggest", "uct", "--game", "connect_four(row=5)"], ["'row'", "did you mean 'rows'?"]),
        (["suggest", "uct"], ["agent 'uct' can play any game", "--game connect_four"]),
        (["evaluate", "uct", "--against", "random"], ["can play any game", "--game"]),
        (["bench", "--game", "nim", "--config", "smoke"], ["unknown game 'nim'"]),
        # commands and options
        (["sugest", "uct"], ["No such command 'sugest'", "suggest"]),
        (["suggest"], ["Missing argument 'AGENT'"]),
        (["evaluate", "uct"], ["--against", "--benchmark", "give either an opponent"]),
        ([*EVALUATE, "--benchmark", "connect_four_pons"], ["--against", "--benchmark", "give either an opponent"]),
        (["evaluate", "uct", "--benchmark", "pons"], ["unknown benchmark 'pons'", "known: connect_four_pons"]),
        (["evaluate", "uct", *GAME, "--benchmark", "connect_four_pons"], ["of connect_four, not of tic_tac_toe"]),
        (["evaluate", "uct", "--benchmark", "connect_four_pons", "--games", "9"], ["--games", "no effect"]),
        (["evaluate", "uct", "--benchmark", "connect_four_pons", "--out", "m"], ["--out", "no effect"]),
        ([*EVALUATE, "--opening-plies", "9"], ["--opening-plies 9 should be less than 9, the longest game"]),
        (["evaluate", "uct", "--benchmark", "connect_four_pons", "--sprt", "0,9"], ["--sprt", "no effect"]),
        ([*SUGGEST, "--simulation", "5"], ["No such option", "--simulations"]),
        # agents
        (["suggest", "connect_for"], ["unknown agent 'connect_for'"]),
        # positions
        ([*SUGGEST, "--position", "3/3 X"], ["position '3/3 X'", "3 rows, not 2", "'3/3/3 X'"]),
        ([*SUGGEST, "--position", "XXX/OO1/3 O"], ["--position 'XXX/OO1/3 O'", "the game is over"]),
        ([*SUGGEST, "--position", "moves: a1", "--moves", "a1"], ["move 1", "'a1' is not legal here"]),
        (["play", "random", *GAME, "--position", "X"], ["position 'X'", "3 rows, not 1"]),
        (["suggest", "utc", *GAME], ["unknown agent 'utc'", "did you mean 'uct'?"]),
        (["evaluate", "uct", "--against", "utc", *GAME], ["unknown agent 'utc'"]),
        (["play", "utc", *GAME], ["unknown agent 'utc'"]),
        (["suggest", "x" * 300, *GAME], ["x" * 300]),
        (["suggest", "gtp:no-such-engine", *GAME], ["no-such-engine", "cannot be started"]),
        (["suggest", f"gtp:{sys.executable} -c pass", *GAME], ["the engine"]),
        # moves
        ([*SUGGEST, "--moves", "a1 a1"], ["move 2", "'a1' is not legal", "b1"]),
        ([*SUGGEST, "--moves", "a1 z9"], ["move 2", "'z9'", "a1 (top left) to c3"]),
        ([*SUGGEST, "--moves", "a1 a2 b1 b2 c1 c2"], ["move 6", "'c2'", "over after 5 moves"]),
        ([*SUGGEST, "--moves", "a1 a2 b1 b2 c1"], ["nothing to suggest", "the game is over"]),
        # simulations and seconds
        ([*SUGGEST_UCT, "--simulations", "0"], ["simulations = 0 should be 1 or more"]),
        ([*SUGGEST_UCT, "--simulations", "-5"], ["simulations = -5 should be 1 or more"]),
        ([*SUGGEST_UCT, "--simulations", "many"], ["--simulations", "integer"]),
        ([*SUGGEST_UCT, "--time", "0"], ["seconds = 0", "greater than 0"]),
        ([*SUGGEST_UCT, "--time", "-1"], ["seconds = -1", "greater than 0"]),
        ([*SUGGEST_UCT, "--time", "nan"], ["seconds = nan", "greater than 0"]),
        (["suggest", "uct@0", *GAME], ["'uct@0'", "simulations = 0"]),
        ([*SUGGEST, "--simulations", "77"], ["--simulations 77 contradicts agent 'uct@20'; give only one of the two"]),
        ([*SUGGEST, "--time", "2"], ["--time 2.0 contradicts agent 'uct@20'"]),
        (["suggest", "uct@2s", *GAME, "--simulations", "77"], ["--simulations 77 contradicts agent 'uct@2s'"]),
        (["suggest", "uct@-2s", *GAME], ["'uct@-2s'", "seconds = -2"]),
        (["suggest", "uct@lots", *GAME], ["'uct@lots'", "uct@800"]),
        (["bench", "--seconds", "0"], ["--seconds 0", "from 0.01"]),
        (["bench", "--seconds", "nan", "--config", "smoke", *GAME], ["--seconds nan"]),
        (["bench", "--only", "nets"], ["--only 'nets'", "did you mean 'net'?"]),
        # other numbers
        ([*SUGGEST, "--threads", "0"], ["threads = 0 should be 1 or more"]),
        ([*SUGGEST, "--seed", "-1"], ["--seed", "0"]),
        ([*SUGGEST, "--max-nodes", "0"], ["max_nodes = 0 should be from 1"]),
        ([*SUGGEST, "--top", "0"], ["--top 0 should be 1 or more"]),
        ([*SUGGEST, "--top", "-2", "--json"], ["--top -2 should be 1 or more"]),
        ([*EVALUATE, "--games", "0"], ["games = 0 should be 1 or more"]),
        ([*EVALUATE, "--games", "-2"], ["games = -2 should be 1 or more"]),
        ([*EVALUATE, "--opening-plies", "-1"], ["opening plies = -1 should be 0 or more"]),
        ([*EVALUATE, "--sprt", "5"], ["--sprt '5'", "0,50"]),
        ([*EVALUATE, "--sprt", "50,0"], ["elo0 = 50", "elo1 = 0"]),
        ([*SUGGEST, "--device", "tpu"], ["device 'tpu'", "'cuda'"]),
        ([*SUGGEST, "--precision", "fp8"], ["precision 'fp8'", "'bf16'"]),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_that_names_it(run_azero, words, parts):
    assert_bad_input(run_azero(*words), *parts)
    assert contents(".") == {}


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("a1,b1 loses", "score 'loses' should be a number"),
        ("a1,a1 0", "'a1' is not legal"),
        ("a1,b1,a2,c3 1 b2 c2", "a3 is a mistake by the listed moves, but it wins at once"),
    ],
)
def test_solved_positions_that_are_no_good_are_named_by_file_and_line(run_azero, line, part):
    Path("solved.txt").write_text(f"# game: tic_tac_toe\na1,b2 0\n{line}\n")
    assert_bad_input(run_azero("evaluate", "uct@5", "--benchmark", "solved.txt"), "solved.txt, line 3: ", part)


# --- bad input: checkpoints ---


class Bomb:
    """A pickle that creates a file if it is loaded."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def damage(kind, net, path):
    """Writes a damaged checkpoint."""
    data = bytearray(net.read_bytes())
    if kind.startswith("flipped"):
        place = {"flipped in its weights": -100, "flipped in its card": data.index(b"torch_version") + 20}[kind]
        data[place] ^= 1
    made = {
        "empty": b"",
        "text": b"these are not weights\n",
        "cut in its header": data[:100],
        "cut in its weights": data[:-1],
        "longer": data + b"\0",
        "a pickle": pickle.dumps(Bomb()),
        "an old pickle": pickle.dumps(Bomb(), protocol=0),
    }
    if kind == "a torch file":
        torch.save(Bomb(), path)
    elif kind == "of a later format":
        card, tensors = read_tensors(net, "")
        write_tensors(path, tensors, {**{key: each for key, each in card.items() if key != "digest"}, "format": 9})
    elif kind == "without a card":
        save_file({"weight": torch.zeros(3)}, path)
    else:
        path.write_bytes(made.get(kind, data))


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("empty", "is empty"),
        ("text", "not a .safetensors file"),
        ("cut in its header", "damaged"),
        ("cut in its weights", "damaged"),
        ("longer", "damaged"),
        ("flipped in its weights", "is damaged: its contents do not match their digest"),
        ("flipped in its card", "damaged"),
        ("of a later format", "format 9; this version of azero reads format 1"),
        ("without a card", "no card"),
        ("a pickle", "is a pickle, which could run code and is never loaded"),
        ("a torch file", "is a pickle, which could run code and is never loaded"),
        ("an old pickle", "not a .safetensors file"),
    ],
)
def test_a_checkpoint_that_is_no_good_is_refused(run_azero, net, kind, part):
    path = Path("bad.safetensors")
    damage(kind, net, path)
    before = contents(".")
    for words in (["suggest", path], ["evaluate", path, "--against", "random"], ["play", f"{path}@5", *GAME]):
        assert_bad_input(run_azero(*words), "bad.safetensors", part)
    assert contents(".") == before and not Path("exploded").exists()


def test_a_checkpoint_that_is_missing_or_of_another_game_is_refused(run_azero, net):
    assert_bad_input(run_azero("suggest", "runs/none/best.safetensors"), "'runs/none/best.safetensors' does not exist")
    other = ["--game", "connect_four"]
    assert_bad_input(run_azero("suggest", net, *other), "plays tic_tac_toe, not connect_four")
    assert_bad_input(run_azero("evaluate", "random", "--against", net, *other), "plays tic_tac_toe, not connect_four")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_cuda_is_refused_where_there_is_none(run_azero, net):
    parts = ["device 'cuda' is not available here", "cpu"]
    assert_bad_input(run_azero("suggest", net, "--device", "cuda"), *parts)
    assert_bad_input(run_azero("suggest", "uct@5", "--game", "tic_tac_toe", "--device", "cuda"), *parts)
    assert_bad_input(run_azero("evaluate", net, "--against", "random", "--device", "cuda"), *parts)
    assert_bad_input(run_azero("train", "smoke", "--set", "device.device=cuda"), *parts)
    assert not Path("runs").exists()


def test_settings_behind_one_option_are_refused_with_advice(run_azero):
    words = "train", "smoke", "--set", "seed=1", "net.blocks=1"
    parts = ["unexpected extra argument", "(net.blocks=1)", "; each setting needs its own --set"]
    assert_bad_input(run_azero(*words), *parts)


# --- bad input: training ---


def test_a_setting_that_is_given_twice_is_told_and_the_last_counts(run_azero):
    settings = ["--set", "seed=1", "--set", "net.blocks=1", "--set", "seed = -2"]
    code, _, errors = run_azero("train", "smoke", "--run", "run", *settings)
    told, refused = errors.splitlines()
    assert code == 2 and told == "azero: --set seed is given more than once; the last value counts"
    assert refused.startswith("azero: setting seed = -2 should be")


def test_help_says_that_settings_go_with_resume(run_azero):
    assert "works with --resume" in " ".join(run_azero("train", "--help")[1].split())


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("training.iteration=3", ["unknown setting 'training.iteration'", "did you mean 'iterations'?"]),
        ("trainin.iterations=3", ["unknown setting 'trainin'", "did you mean 'training'?"]),
        ("speed=3", ["unknown setting 'speed'", "known: "]),
        ("training.iterations=0", ["training.iterations = 0", "greater than or equal to 1"]),
        ("training.iterations=many", ["training.iterations = 'many'", "integer"]),
        ("training.learning_rate=-0.1", ["training.learning_rate = -0.1", "greater than 0"]),
        ("training.learning_rate=nan", ["training.learning_rate = nan", "finite"]),
        ("training.optimizer=adam", ["training.optimizer = 'adam'", "'adamw' or 'sgd'"]),
        ("selfplay.temperature=-1", ["selfplay.temperature = -1", "greater than or equal to 0"]),
        ("gate.elo0=60", ["unknown setting 'gate.elo0'"]),
        ("seed=-1", ["seed = -1", "greater than or equal to 0"]),
        ("net=3", ["net = 3"]),
        ("net.blocks.x=3", ["net"]),
        ("cache_mib=10", ["unknown setting 'cache_mib'", "did you mean search.cache_mib?"]),
        ("search.num_simulations=9", ["unknown setting 'search.num_simulations'", "did you mean "]),
        ("games=10", ["did you mean gate.games or evaluation.games?"]),
        ("training.iterations", ["'training.iterations'", "section.key=value"]),
        ("=3", ["'=3'", "section.key=value"]),
        ("game.name=chess", ["unknown game 'chess'"]),
        ("game.name=connect_four(rows=2)", ["rows=2"]),
        ("evaluation.opponent=utc@50", ["unknown agent 'utc'"]),
        ("evaluation.opponent=uct@0", ["simulations = 0"]),
    ],
)
def test_a_setting_that_is_wrong_is_named_and_no_run_begins(run_azero, tmp_path, setting, parts):
    config = write_config(tmp_path, training={"iterations": 1}, evaluation={"every": 1})
    assert_bad_input(run_azero("train", config, "--run", "run", "--set", setting), *parts)
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[game", ["not TOML"]),
        ("[net]\nblocks = 1\n", ["'game' is missing"]),
        ("[gaem]\nname = 'tic_tac_toe'\n", ["unknown setting 'gaem'", "did you mean 'game'?"]),
        ("[game]\nname = 'tic_tac_toe'\n[selfplay]\ngames = 5\n", ["unknown setting 'selfplay.games'"]),
        ("game = 'tic_tac_toe'\n", ["setting game = 'tic_tac_toe'"]),
        ("\xff", ["not TOML"]),
    ],
)
def test_a_config_that_is_wrong_is_named_and_no_run_begins(run_azero, text, parts):
    Path("own.toml").write_bytes(text.encode("latin-1"))
    assert_bad_input(run_azero("train", "own.toml"), *parts)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["train"], ["train needs a CONFIG"]),
        (["train", "smok"], ["config 'smok'", "did you mean 'smoke'?"]),
        (["train", "none.toml"], ["config 'none.toml'", "known: "]),
        (["train", "--resume"], ["train needs a CONFIG"]),
        (["train", "--run", "none", "--resume"], ["no run in 'none': it does not exist"]),
        (["train", "smoke", "--resume"], ["no run in 'runs/smoke'"]),
        (["train", "smoke", "--run", "file"], ["--run 'file' is a file"]),
        (["train", "smoke", "--run", "."], ["folder '.' exists already, and holds no run"]),
        (["train", "--run", "file", "--resume"], ["no run in 'file': it is a file"]),
        (["train", "--run", ".", "--resume"], ["no run in '.': it has no config.toml"]),
        (["train", "smoke", "--run", "file/run"], ["file"]),
        (["train", "smoke", "--run", "x" * 300], ["x" * 300]),
    ],
)
def test_a_run_that_cannot_be_begun_or_resumed_is_named(run_azero, words, parts):
    Path("file").write_text("mine")
    assert_bad_input(run_azero(*words), *parts)
    assert contents(".") == {"file": b"mine"}


def test_a_run_that_exists_needs_resume_and_is_left_alone(run_azero):
    Path("run").mkdir()
    Path("run/config.toml").write_text("mine")
    assert_bad_input(run_azero("train", "smoke", "--run", "run"), "run 'run' exists already", "--resume", "--run")
    assert contents(".") == {"run/config.toml": b"mine"}


def test_a_run_that_is_damaged_is_refused_and_left_alone(run_azero, tmp_path):
    config = write_config(tmp_path)
    write_settings(Path("run"), tiny_config())
    Path("run/state.safetensors").write_bytes(b"\0" * 50)
    before = contents(".")
    assert_bad_input(
        run_azero("train", config, "--run", "run", "--resume"), "state.safetensors", "is not a .safetensors file"
    )
    assert contents(".") == before


# --- bad input, as a user sees it ---


@pytest.mark.parametrize(
    "words", [["suggest", "uct", "--game", "conect_four"], ["train", "smoke", "--set", "seed=-1"], ["sugest"]]
)
def test_bad_input_in_a_process_of_its_own(tmp_path, words):
    command = [sys.executable, "-m", "azero.cli", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert_bad_input((done.returncode, done.stdout, done.stderr))
    assert contents(tmp_path) == {}


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is cached")
def test_a_cache_that_cannot_be_kept_is_said_and_the_command_works(tmp_path):
    (tmp_path / "file").touch()
    environment = os.environ | {"AZERO_CACHE_DIR": str(tmp_path / "file")}
    command = [sys.executable, "-m", "azero.cli", "suggest", "random", "--game", "tic_tac_toe"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "best: " in done.stdout
    assert done.stderr.startswith("azero: warning: compiled kernels cannot be kept in ")


def test_a_reader_that_goes_away_is_no_accident():
    command = f"{shlex.quote(sys.executable)} -m azero.cli suggest uct@20 --game tic_tac_toe | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""


# --- where nets run ---


def test_what_runs_a_net_is_said_once_where_there_is_one(run_azero, net):
    where = ["--runtime", "torch", "--precision", "fp32"]
    assert run_azero("suggest", f"{net}@10", *where)[1].endswith(" s, torch fp32)\n")
    assert run_azero("suggest", f"{net}(runtime=torch,precision=fp32)@10", *where)[1].endswith(" s, torch fp32)\n")
    assert run_azero(*SUGGEST)[1].endswith(" s)\n")
    parts = [f"--precision fp32 contradicts agent '{net}(precision=int8)@10'", "give only one of the two"]
    assert_bad_input(run_azero("suggest", f"{net}(precision=int8)@10", *where), *parts)
    assert_bad_input(run_azero(*EVALUATE, *where), "--precision is for nets", "no net in uct@20 or random")
    assert_bad_input(run_azero("play", "uct", *GAME, "--runtime", "torch"), "--runtime is for nets", "no net in uct")
    assert run_azero("evaluate", f"{net}@2", "--against", "random", "--games", "2", *where)[0] == 0


def test_an_unknown_option_of_a_net_is_told_with_all_that_there_are(run_azero, net):
    parts = [f"agent '{net}(precison=fp32)': unknown option 'precison'; did you mean 'precision'?", "c_puct", "runtime"]
    assert_bad_input(run_azero("suggest", f"{net}(precison=fp32)"), *parts)


# --- Ctrl-C ---


@pytest.mark.thorough
@needs_posix
@pytest.mark.parametrize("words", [EVALUATE, ["play", "uct@20", *GAME], ["suggest", "uct", "--time", "60", *GAME]])
@pytest.mark.parametrize("seconds", [0.05, 0.5, 3.0])
def test_ctrl_c_is_one_line_at_any_moment(words, seconds):
    begin = "import azero.cli; print('begun', flush=True); azero.cli.main()"
    command = [sys.executable, "-c", begin, *words, *(["--games", "100000"] if words == EVALUATE else [])]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
        process.send_signal(signal.SIGINT)  # a second Ctrl-C
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert re.fullmatch(r"azero: stopped( after \d+ of 100000 games)?\n", errors)


@needs_posix
@pytest.mark.parametrize("raises", ["raise ImportError('numpy._core.multiarray failed to import')", "time.sleep(9)"])
def test_ctrl_c_that_c_code_prints_is_no_traceback(raises):
    """A module's code in C that is interrupted while it imports another one prints the exception."""
    code = f"""
import sys, time, azero.cli
def call(words):
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)  # what PyErr_Print calls
    {raises}
azero.cli._call = call
azero.cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code, "games"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "azero: stopped\n")


@needs_posix
def test_ctrl_c_in_a_match_prints_the_finished_games():
    begin = """
import signal, azero.cli
from azero.arena.matches import course
tally_of, strikes = course.tally_of, [signal.SIGINT]
def strike_once(results):
    if strikes:
        signal.raise_signal(strikes.pop())
    return tally_of(results)
course.tally_of = strike_once
azero.cli.main()
"""
    command = [sys.executable, "-c", begin, *EVALUATE, "--games", "40", "--json"]
    ended = subprocess.run(command, text=True, capture_output=True, timeout=50)
    result = json.loads(ended.stdout)
    assert 1 <= result["games"] < 40
    last = ended.stderr.splitlines()[-1]  # kernels may have been compiled before
    assert (ended.returncode, last) == (130, f"azero: stopped after {result['games']} of 40 games")


@needs_posix
def test_ctrl_c_in_a_destructor_is_not_lost():
    begin = """
import signal, time, azero.cli
class Doomed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def run(words):
    Doomed()
    time.sleep(60)
azero.cli._run = run
azero.cli.main()
"""
    ended = subprocess.run([sys.executable, "-c", begin], text=True, capture_output=True, timeout=50)
    assert (ended.returncode, ended.stderr) == (130, "azero: stopped\n")


# --- help ---


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_that_parses(run_azero, command):
    code, output, errors = run_azero(command, "--help")
    assert (code, errors) == (0, "")
    [example] = re.findall(r"^ *Example:\s+azero (.*)\Z", output, re.MULTILINE | re.DOTALL)
    program = typer.main.get_command(app)
    context = program.make_context("azero", shlex.split(example))
    name, found, rest = program.resolve_command(context, [*context._protected_args, *context.args])
    assert name == command
    values = found.make_context(name, rest, parent=context).params
    if values.get("config"):
        assert find_config(values["config"])


def test_every_option_says_what_it_does():
    commands = typer.main.get_command(app).commands
    commands |= {f"lab {name}": command for name, command in commands.pop("lab").commands.items()}
    for name, command in commands.items():
        assert command.help and (command.hidden or command.epilog.startswith("Example:  azero " + name))
        for parameter in command.params:
            documented = parameter.name == "help" or parameter.help
            assert documented or parameter.name == "against", f"{name} {parameter.name}"


def test_help_lists_the_commands(run_azero):
    code, output, _ = run_azero("--help")
    assert code == 0 and [name for name in COMMANDS if f"\n  {name} " in output] == COMMANDS


def test_without_a_command_there_is_help(run_azero):
    _, output, errors = run_azero()
    assert "\n  suggest " in output + errors


def test_the_version_is_told(run_azero):
    for word in ("version", "--version"):
        assert run_azero(word) == (0, f"{azero.__version__}\n", "")
    assert "--version" in run_azero("--help")[1]


# --- what commands print ---


def test_suggest_prints_a_board_and_json(run_azero, net):
    for agent in ("uct@30", "mc@30", "random", f"{net}@30"):
        code, output, errors = run_azero("suggest", agent, *GAME, "--moves", "b2 a1")
        assert (code, errors) == (0, "") and "best: " in output and output.startswith("tic_tac_toe, first player")
        code, output, errors = run_azero("suggest", agent, *GAME, "--moves", "b2 a1", "--json")
        fields = json.loads(output)
        assert (code, errors, output.count("\n")) == (0, "", 1)
        assert list(fields) == SUGGESTION_FIELDS
        assert (fields["precision"] in ("fp32", "bf16", "int8")) == (agent == f"{net}@30") == bool(fields["runtime"])
        assert list(fields["moves"][0]) == [
            "move",
            "visits",
            "value",
            "prior",
            "proven",
            "pv",
            "is_bound",
            "proven_plies",
        ]
        assert len(fields["moves"]) == 7 and fields["simulations"] in (0, 30)


def test_suggest_begins_with_a_position(run_azero):
    """A board, a drawn board and moves are the same position; further moves follow it."""
    positions = ["O2/1X1/3 X", "O . .\n. X .\n. . .\nX", "moves: b2 a1"]
    answers = [run_azero(*SUGGEST, "--position", text, "--moves", "c3", "--json") for text in positions]
    answers.append(run_azero(*SUGGEST, "--moves", "b2 a1 c3", "--json"))
    told = [{**json.loads(output), "elapsed_s": 0} for _, output, _ in answers]
    assert all(code == 0 for code, *_ in answers) and told == [told[0]] * 4 and told[0]["to_move"] == 1


def test_suggest_takes_its_limits_from_the_options(run_azero):
    assert run_azero("suggest", "mc@30", *GAME, "--simulations", "30")[0] == 0, "equal limits should be accepted"
    for option, least in ((["--simulations", "77"], 77), (["--time", "0.1"], 78)):
        fields = json.loads(run_azero("suggest", "mc", *GAME, *option, "--json")[1])
        assert fields["simulations"] == 77 if least == 77 else fields["simulations"] >= least


def test_suggest_is_the_same_for_the_same_seed(run_azero):
    words = ["suggest", "uct@50", *GAME, "--json", "--seed"]
    one, same, other = (json.loads(run_azero(*words, seed)[1])["moves"] for seed in (1, 1, 2))
    assert one == same != other


def test_suggest_lists_as_many_moves_as_are_asked_for(run_azero):
    words = ["suggest", "uct@50", "--game", "go(size=5)"]
    assert "\n... and 16 more\n" in run_azero(*words)[1] and "\n... and 24 more\n" in run_azero(*words, "--top", 2)[1]
    assert "more" not in run_azero(*words, "--top", 26)[1]
    for options, num_moves in (([], 26), (["--top", 2], 2), (["--top", 99], 26)):
        assert len(json.loads(run_azero(*words, *options, "--json")[1])["moves"]) == num_moves


def test_a_full_tree_is_said_on_stderr_where_stdout_is_json(run_azero):
    code, output, errors = run_azero(*SUGGEST, "--max-nodes", "15", "--json")
    assert code == 0 and json.loads(output) and "limit of nodes" in errors
    assert "limit of nodes" in run_azero(*SUGGEST, "--max-nodes", "15")[1]


def test_evaluate_prints_a_match_and_json(run_azero, net):
    words = ["evaluate", f"{net}@10", "--against", "uct@10", "--games", "6"]  # the net's card names the game
    code, output, _ = run_azero(*words)
    assert code == 0 and "6 games" in output and "score" in output and "Elo" in output and "ms and" in output
    code, output, errors = run_azero(*words, "--json")
    fields = json.loads(output)
    assert (code, errors, output.count("\n")) == (0, "", 1)
    assert {
        *("a", "b", "game", "games", "wins", "draws", "losses", "score", "score_ci95"),
        *("elo", "elo_ci95", "distinct_games", "elapsed_s"),
    } <= set(fields)
    assert (fields["a"], fields["b"], fields["game"], fields["games"]) == (f"{net}@10", "uct@10", "tic_tac_toe", 6)


def test_evaluate_says_where_games_are_odd(run_azero):
    code, output, errors = run_azero(*EVALUATE, "--games", "3")
    assert code == 0 and "3 games" in output and errors.count("\n") == 1
    assert errors.startswith("azero: --games = 3 is odd: ")


def test_evaluate_on_solved_positions_prints_shares_and_json(run_azero, net):
    Path("solved.txt").write_text("# game: tic_tac_toe\n- 0\na1,b1 1 b2 a2:1 a3 c1:0\n")
    for agent in (f"{net}@20", "uct@20"):
        code, output, errors = run_azero("evaluate", agent, "--benchmark", "solved.txt")
        assert code == 0 and "solved" in output and "with search" in output and errors.count("Traceback") == 0
        assert ("net alone" in output) == (agent != "uct@20")
    code, output, _ = run_azero("evaluate", "uct@20", "--benchmark", "solved.txt", "--json")
    [found] = json.loads(output)["sets"]
    assert code == 0 and (found["name"], found["positions"], found["net_mistakes"]) == ("solved", 2, None)


def test_evaluate_with_an_sprt_says_how_it_ended(run_azero):
    assert "SPRT 0, 300: accept" in run_azero(*EVALUATE, "--games", "200", "--sprt", "0,300")[1]
    code, output, _ = run_azero(*EVALUATE, "--games", "2", "--sprt", "0,5", "--json")
    assert code == 0 and json.loads(output)["sprt"] is None


def test_evaluate_of_a_match_won_whole_prints_infinities_and_json_none(run_azero):
    words = ["evaluate", "uct@500", "--against", "random", *GAME, "--games", "2", "--seed", "3", "--opening-plies", "0"]
    fields = json.loads(run_azero(*words, "--json")[1])
    assert fields["wins"] == 2 and fields["elo"] is None
    assert "+inf" in run_azero(*words)[1]


def test_evaluate_meets_another_engine(run_azero, tmp_path):
    code, output, _ = run_azero(
        "evaluate", write_engine(tmp_path), "--against", "random", *GAME, "--games", "2", "--json"
    )
    assert code == 0 and json.loads(output)["games"] == 2


def test_evaluate_prints_what_was_played_where_an_engine_fails(run_azero, tmp_path):
    words = ["evaluate", write_engine(tmp_path, "dies@3"), "--against", "random", *GAME, "--games", "6"]
    words += ["--threads", "1"]
    code, output, errors = run_azero(*words)
    assert code == 1 and "2 games" in output and "score" in output
    assert errors.startswith("azero: the match ended after 2 of 6 games: agent ") and errors.count("\n") == 1
    code, output, errors = run_azero(*words, "--json")
    fields = json.loads(output)
    assert (code, fields["games"]) == (1, 2) and errors == f"azero: {fields['failure']}\n"


def test_evaluate_goes_on_from_a_file(run_azero, tmp_path):
    """It adds the games to a record when all are finished, with those of before."""
    words = [
        "evaluate",
        write_engine(tmp_path, "dies@3"),
        "--against",
        "uct@9",
        *GAME,
        "--out",
        "m",
        "--record",
        "r.txt",
    ]
    words += ["--threads", "1", "--games"]
    code, output, errors = run_azero(*words, "4")
    assert code == 1 and "2 games" in output and errors.rstrip().endswith("; the same command goes on from m")
    assert not Path("r.txt").exists()
    code, output, errors = run_azero(*words, "4", "--json")
    assert (code, errors, json.loads(output)["games"]) == (0, "", 4)
    assert Path("r.txt").read_text().count("[Result ") == 4
    assert json.loads(run_azero(*words, "2", "--json")[1])["games"] == 2


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--out", "other"], "match 'other' is damaged, or no file of a match; move the file away"),
        (["--out", "."], "match '.' cannot be read: Is a directory; name another file with --out"),
        (["--out", "x", "--record", "./x"], "--record and --out name the same file, 'x'; they need one each"),
        (["--out", ""], "the path is empty"),
    ],
)
def test_evaluate_refuses_what_is_no_file_of_its_match(run_azero, words, part):
    Path("other").write_text("mine")
    assert_bad_input(run_azero(*EVALUATE, *words), part)
    assert Path("other").read_text() == "mine" and not Path("x").exists()


def test_evaluate_prints_no_result_where_no_game_was_finished(run_azero, tmp_path):
    words = ["evaluate", "random", "--against", write_engine(tmp_path, "dies"), *GAME, "--json"]
    code, output, errors = run_azero(*words)
    assert (code, output) == (1, "") and "ended after 0 of 100 games" in errors and errors.count("\n") == 1


def test_games_lists_them_with_their_parameters(run_azero):
    code, output, errors = run_azero("games")
    assert (code, errors) == (0, "")
    assert "connect_four(rows=6,columns=7)\n" in output and "\ntic_tac_toe\n" in output
    fields = json.loads(run_azero("games", "--json")[1])
    assert len(fields) == 10 and list(fields) == sorted(fields)
    assert fields["tic_tac_toe"] == {}
    assert fields["connect_four"] == {
        "rows": {"default": 6, "range": [4, 8]},
        "columns": {"default": 7, "range": [4, 8]},
    }
    assert list(fields["go"]) == ["size", "komi", "superko", "suicide", "max_game_length"]
    assert fields["go"]["komi"] == {"default": 7.5, "range": [-361, 361]}
    assert fields["go"]["superko"] == {"default": True, "range": None}
    assert "    size 2 to 19, komi -361 to 361, max_game_length 0 to 100000\n" in output
    assert "go(size=9,komi=7.5,superko=true,suicide=false,max_game_length=0)\n" in output


def test_play_reads_moves_from_stdin(run_azero):
    typed = "b2\nMoves\nhint\nValues\nundo\nb2\nquit\n"
    code, output, errors = run_azero("play", "random", *GAME, typed=typed)
    assert (code, errors) == (0, "")
    assert output.startswith("You play first against random.") and "random (O): " in output and "best: " in output
    assert output.endswith("move 3, you (X): quit\nThe game is left unfinished.\n")


def test_play_second_lets_the_agent_begin_and_ends_with_the_input(run_azero):
    code, output, _ = run_azero("play", "uct@50", *GAME, "--second")
    assert code == 0 and output.index("move 1, uct@50 (X): ") < output.index("move 2, you (O): ")
    assert output.endswith("The game is left unfinished.\n")


def test_play_begins_after_moves_limits_the_search_and_saves_the_game(run_azero, tmp_path):
    words = ["play", "uct", *GAME, "--moves", "a1 b2", "--simulations", 7, "--save", tmp_path / "game.txt"]
    code, output, errors = run_azero(*words, typed="c3\n")
    assert (code, errors) == (0, "") and "\n1 X . .\n2 .(O).\n" in output and "move 3, you (X): c3\n" in output
    (record,) = read_records(tmp_path / "game.txt")
    assert record.actions()[:3] == [0, 4, 8] and record.line()[3].simulations == 7


def test_play_at_a_level_gives_hints_at_full_strength(run_azero):
    words = ["play", "uct", *GAME, "--moves", "a1 b1 a2 b2", "--level"]
    for level in ("1", "adaptive"):
        code, output, errors = run_azero(*words, level, typed="hint\na3\n")
        assert (code, errors) == (0, "") and output.startswith(f"You play first against uct at level {level}. ")
        assert "hint: a3 " in output and output.index("You win") > 0
    assert_bad_input(run_azero(*words, "9"), "level = 9 should be a whole number from 1 to 8, or adaptive")
    assert_bad_input(run_azero(*words, "1", "--simulations", 5), "--level 1 has simulations of its own")
    assert_bad_input(run_azero("play", "uct@5", *GAME, "--level", "1"), "--level 1 has simulations of its own")
    assert_bad_input(run_azero("play", "uct(level=1)", *GAME, "--simulations", 7), "has simulations of its own")
    assert_bad_input(run_azero("play", "random", *GAME, "--level", "1"), "'random' does not judge positions")
    assert_bad_input(run_azero("suggest", "uct(level=1)", *GAME, "--simulations", 7), "takes no other limit")


def test_bad_input_of_play_is_one_line(run_azero, tmp_path):
    assert_bad_input(run_azero("play", "uct", *GAME, "--moves", "a1 a1"), "move 2: 'a1' is not legal here")
    assert_bad_input(run_azero("play", "uct", *GAME, "--moves", "a1 b1 a2 b2 a3"), "--moves", "the game is over")
    assert_bad_input(run_azero("play", "uct@5", *GAME, "--simulations", 6), "--simulations 6 contradicts agent 'uct@5'")
    assert_bad_input(run_azero("play", "uct", *GAME, "--time", -1), "seconds = -1.0 should be a number greater than 0")
    assert_bad_input(run_azero("play", "uct", *GAME, "--save", tmp_path), "is a folder; a file for records is needed")


@pytest.fixture
def played(tmp_path):
    """A run's folder with one shard of games."""
    save_shard(tmp_path / "run" / "replay" / "00001-0000.safetensors", some_games(TIC_TAC_TOE), TIC_TAC_TOE)
    return tmp_path / "run"


def test_train_rollout_trains_and_prints(run_azero, played):
    code, output, errors = run_azero("train-rollout", played, "--epochs", 2)
    assert (code, errors) == (0, "") and "cross-entropy" in output and "top-1 accuracy" in output
    code, output, _ = run_azero("train-rollout", played, "--epochs", 2, "--json")
    fields = json.loads(output)
    assert code == 0 and fields["game"] == "tic_tac_toe" and fields["held_out"]["cross_entropy"] > 0
    assert fields["file"] == str(played / "rollout.safetensors")
    rollout_named(fields["file"], TIC_TAC_TOE)


def test_bad_input_of_train_rollout_is_one_line_and_leaves_no_file(run_azero, played, tmp_path):
    shard, other = played / "replay" / "00001-0000.safetensors", tmp_path / "other.safetensors"
    out = ["--out", tmp_path / "out.safetensors"]
    save_shard(other, some_games(CONNECT_FOUR), CONNECT_FOUR)
    assert_bad_input(run_azero("train-rollout"), "Missing argument 'RUN'")
    assert_bad_input(run_azero("train-rollout", played, "--epochs", "0"), "--epochs 0 should be from 1 to 1000")
    assert_bad_input(run_azero("train-rollout", tmp_path / "none"), "none' does not exist")
    assert_bad_input(run_azero("train-rollout", tmp_path / "here"), "here' holds no replay/*.safetensors")
    assert_bad_input(run_azero("train-rollout", shard), "name a file with --out")
    assert_bad_input(run_azero("train-rollout", played, "--out", "policy.bin"), "--out 'policy.bin'", ".safetensors")
    assert_bad_input(run_azero("train-rollout", played, other, *out), "connect_four", "not tic_tac_toe")
    shard.write_bytes(b"no shard")
    assert_bad_input(run_azero("train-rollout", played), "00001-0000", "is not a .safetensors file")
    assert not (played / "rollout.safetensors").exists() and not (tmp_path / "out.safetensors").exists()


@pytest.mark.slow
def test_compiling_is_no_part_of_the_time_that_games_and_moves_take(tmp_path):
    """A command that compiles takes seconds more than the next one; its games take no part of them."""
    command = [sys.executable, "-m", "azero.cli", *EVALUATE, "--games", "4", "--json"]
    environment = os.environ | {"AZERO_CACHE_DIR": str(tmp_path)}
    whole_s, games_s = [], []
    for _ in range(2):
        begin = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        whole_s.append(time.perf_counter() - begin)
        games_s.append(json.loads(done.stdout)["elapsed_s"])
    assert games_s[0] - games_s[1] < (whole_s[0] - whole_s[1]) / 20


@pytest.mark.long
def test_bench_measures_on_a_machine_that_has_compiled_nothing_yet(tmp_path):
    """Only progress goes to stderr, and compilation is not measured."""
    command = [sys.executable, "-m", "azero.cli", "bench", *GAME, "--config", "smoke", "--seconds", "0.5", "--json"]
    environment = os.environ | {"AZERO_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and "Warning" not in done.stderr
    assert report["selfplay"][0]["share_of_net"] > 0.2


@pytest.mark.parametrize(("raises", "code"), [("KeyboardInterrupt", 130), ("BadInput('wrong')", 2)])
def test_what_was_printed_before_an_error_is_not_lost(raises, code):
    """A pipe's buffer is written before the process ends at once."""
    begin = f"""
import azero.cli
from azero.errors import BadInput
def call(words):
    print("results")
    raise {raises}
azero.cli._call = call
azero.cli.main()
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ended = subprocess.run([sys.executable, "-c", begin, "games"], env=environment, text=True, capture_output=True)
    assert (ended.returncode, ended.stdout) == (code, "results\n")
