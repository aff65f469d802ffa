"""Agents by name. Names are the same in commands, configs and Python:

uct@1000                         plain UCT, with random rollouts
uct(c=2,by=value)@1000           the same with options, see `classical.py`
mc@1000  mmmc@1000               plain Monte Carlo; the same with minimax values
random                           uniformly random moves
alphabeta@1000                   alpha-beta, at most 1000 leaves per move
PATH@800  PATH@2s                a checkpoint or a run's folder (its best net), with simulations or seconds per move
PATH(rollout_weight=0.5)@800     the same with other settings of its search
PATH(resign=-0.95)@800           the same, but it resigns if the position's value for it is below this
PATH(precision=fp32)@800         the same with other settings of its net: device, runtime, precision
connect_four@800                 an included checkpoint
othello@800                      the included checkpoint of a game with the largest board
connect_four(level=3)            the agent at a level, 1 the weakest, or level=adaptive; see `levels/`
gtp:COMMAND  uci:COMMAND         another program, through GTP or UCI
uci(nodes=10000):COMMAND         the same with options, see `engines/uci.py`
"""

import hashlib
import re
from functools import partial
from pathlib import Path

from azero.arena.agents.agent import Agent, Limit, RandomAgent
from azero.arena.agents.checkpoints import exists, find_checkpoint, has_folder
from azero.arena.agents.classical import CLASSICAL, make_classical_agent, word_of
from azero.arena.agents.levels import LevelAgent, levels_of, parse_level
from azero.arena.agents.options import Options, split_options, split_program
from azero.arena.agents.search_agent import VISITS_PER_LEAF, SearchAgent
from azero.compiler.jit import IS_COMPILED
from azero.config.reading import override_section
from azero.config.schema import DeviceConfig, SearchConfig
from azero.errors import BadInput, suggest_nearest
from azero.games import Game, make_game
from azero.mcts import Search, Settings, rollout_from_config, selection_from_config
from azero.system.files import read_regular

MOST_NODES = 1 << 27
"""Nodes of the largest tree, 4 GiB. A search takes the memory as it grows."""

BATCHES = (8, 32)
"""Rows of a thread's forward pass: few while few leaves of a tree may wait for the net, more in long searches."""

DEFAULT_SIMULATIONS = 400
"""Simulations per move of an agent whose name has no limit."""

_LARGEST = 1 << 30  # bytes of a checkpoint
_DEVICE_SETTINGS = ("device", "runtime", "precision")


def make_agent(
    name: str,
    game: Game | str | None = None,
    seed: int = 0,
    threads: int = 1,
    device: DeviceConfig | None = None,
    max_nodes: int | None = None,
    net: str | None = None,
) -> Agent:
    """Returns the agent of this name; raises BadInput.

    Args:
      game: the game to play; a checkpoint has its own.
      seed: the same seed gives the same moves.
      threads: threads that share the games of a match: the trees in plain UCT, otherwise the net's batches and the
        solving of roots. With a net, they also search the position of a suggestion together, and each position of a
        match with a limit in seconds. Then the moves may differ from call to call.
      device: device, runtime and precision of a net; the best available ones by default.
      max_nodes: most nodes of a tree; a full tree stops growing. By default as many as the search needs.
      net: the name of a user's own net, with its present file; by default the checkpoint tells.
    """
    agent = _make(name, game, seed, threads, device, max_nodes, net)
    agent.remake = partial(make_agent, name, agent.game, seed, 1, device, max_nodes, net)
    return agent


def _make(
    name: str,
    game: Game | str | None,
    seed: int,
    threads: int,
    device: DeviceConfig | None,
    max_nodes: int | None,
    net: str | None,
) -> Agent:
    if max_nodes is not None and not 1 <= max_nodes <= MOST_NODES:
        raise BadInput(f"max_nodes = {max_nodes} should be from 1 to {MOST_NODES:,}")
    if threads < 1:
        raise BadInput(f"threads = {threads} should be 1 or more")
    game = make_game(game) if isinstance(game, str) else game
    if program := split_program(name):
        return _program_agent(name, *program, _required(game, name), seed)
    base, limit = split_name(name)
    base, level = split_level(base)
    if level is not None:
        if not limit.is_default:
            raise BadInput(f"agent {name!r} has a limit and a level, which has its own simulations; give only one")
        inner = make_agent(base, game, seed, threads, device, max_nodes, net)
        return LevelAgent(inner, levels_of(inner.game, identity_of(base)).level(level), name)
    if word_of(base) == "random":
        if name != "random":
            raise BadInput(f"agent {name!r}: random has no limit and no options; write just random")
        return RandomAgent(name, _required(game, name), seed)
    if word_of(base) in CLASSICAL:
        return make_classical_agent(name, base, _required(game, name), limit, seed, threads, max_nodes)
    return _net_agent(name, base, game, limit, seed, threads, device or DeviceConfig(), max_nodes, net)


def game_of(name: str) -> Game | None:
    """Returns the game of an agent's checkpoint; None for agents that can play any game."""
    base, _ = split_name(name)
    if split_program(name) or word_of(base) in ("random", *CLASSICAL):
        return None
    from azero.nets.checkpoint_file import game_of_card, read_card

    path = find_checkpoint(split_settings(base)[0])
    return game_of_card(path, read_card(path))


def device_settings_of(name: str) -> dict[str, str] | None:
    """Returns the device settings in an agent's name, by setting; None for agents without a net."""
    base, _ = split_name(name)
    if split_program(name) or word_of(base) in ("random", *CLASSICAL):
        return None
    return {key: value for key, value in split_settings(base)[1].items() if key in _DEVICE_SETTINGS}


def identity_of(name: str) -> str:
    """Returns an agent's name with the digest of its checkpoint's file in place of the path; raises BadInput.

    So a net has the same identity wherever it lies, and another one if its file changes.
    """
    base, _ = split_name(name)
    if split_program(name) or word_of(base) in ("random", *CLASSICAL):
        return name
    path = split_settings(base)[0]
    digest = hashlib.blake2b(read_regular(find_checkpoint(path), _LARGEST), digest_size=8).hexdigest()
    return f"net:{digest}{name.removeprefix(path)}"


def split_name(name: str) -> tuple[str, Limit]:
    """Splits `base@limit`. The limit is a number of simulations or, with an s, of seconds. Raises BadInput."""
    base, at, text = name.rpartition("@")
    if not at or split_program(name):
        return name, Limit(DEFAULT_SIMULATIONS, is_default=True)
    if not re.fullmatch(r"-?\d{1,15}|-?\d{1,15}(\.\d{0,15})?s", text, re.ASCII):
        if has_folder(text) or exists(Path(name)):
            return name, Limit(DEFAULT_SIMULATIONS, is_default=True)
        raise BadInput(f"agent {name!r}: limit {text!r} should be simulations or seconds, e.g. {base}@800 or {base}@2s")
    try:
        return base, Limit(seconds=float(text[:-1])) if text.endswith("s") else Limit(int(text))
    except BadInput as error:
        raise BadInput(f"agent {name!r}: {error}") from None


def split_level(base: str) -> tuple[str, int | str | None]:
    """Splits the option `level` off a name without a limit; the level is None if there is none. Raises BadInput."""
    path, options = split_settings(base)
    if "level" not in options:
        return base, None
    level = parse_level(options.pop("level"))
    settings = ",".join(f"{key}={value}" for key, value in options.items())
    return (f"{path}({settings})" if settings else path), level


def split_settings(base: str) -> tuple[str, dict[str, str]]:
    """Splits `PATH(key=value,...)`. The path of an existing file may contain parentheses."""
    path, _, options = base.rpartition("(")
    if exists(Path(base)):
        return base, {}
    if path and exists(Path(path)):
        return path, split_options(f"({options}")[1]
    return split_options(base)


def _resign_below(name: str, value: str | None) -> float | None:
    try:
        return Options("net" if value is None else f"net(resign={value})").resign_below()
    except BadInput:
        raise BadInput(f"agent {name!r}: resign = {value} should be a number from -1 to 1") from None


def _required(game: Game | None, name: str) -> Game:
    if game is None:
        raise BadInput(f"agent {name!r} can play any game: name one with --game, e.g. --game connect_four")
    return game


def _program_agent(name: str, base: str, command: str, game: Game, seed: int) -> Agent:
    options = Options(base)
    if options.word == "uci":
        from azero.arena.agents.engines.uci import UciAgent

        return UciAgent(name, game, options, command, seed)
    from azero.arena.agents.engines.gtp import GtpAgent

    return GtpAgent(name, game, options, command, seed)


def _net_agent(
    name: str,
    base: str,
    game: Game | None,
    limit: Limit,
    seed: int,
    threads: int,
    device: DeviceConfig,
    max_nodes: int | None,
    net_name: str | None,
) -> Agent:
    # Imported here, so that agents without a net start sooner. They do not import torch, which takes a second.
    from azero.nets.checkpoint_file import read_checkpoint
    from azero.nets.quick import QuickNet
    from azero.nets.session_evaluator import MATCH_ROWS, evaluator_of_sizes

    path, overrides = split_settings(base)
    checkpoint = read_checkpoint(find_checkpoint(path), game, net_name)
    own = {key: overrides.pop(key) for key in _DEVICE_SETTINGS if key in overrides}
    resign_below = _resign_below(name, overrides.pop("resign", None))
    for key in overrides:
        if key not in SearchConfig.model_fields:
            known = suggest_nearest(key, [*SearchConfig.model_fields, *_DEVICE_SETTINGS, "resign"])
            raise BadInput(f"agent {name!r}: unknown option {key!r}; {known}")
    device = override_section(DeviceConfig, device.model_dump(), own)
    config = override_section(SearchConfig, checkpoint.card.search, overrides)
    if "rollout" in overrides and config.rollout_weight == 0:
        raise BadInput(f"agent {name!r}: rollout has no effect if rollout_weight is 0; add e.g. rollout_weight=0.5")
    selection, settings = selection_from_config(config), Settings.from_config(config)
    rollout = rollout_from_config(config, checkpoint.game)
    net = QuickNet(checkpoint, device)

    def make_search(num_trees: int, nodes: int, leaves: int) -> Search:
        together = min(threads, leaves) if IS_COMPILED else 1  # threads that search one tree
        most = leaves // together
        rows = [MATCH_ROWS] if num_trees > 1 and leaves == 1 else [each for each in BATCHES if each <= most] or [1]
        evaluator = evaluator_of_sizes([net.evaluator(each, threads) for each in rows])
        agent.runtime = evaluator.runtime
        if evaluator.is_on_device:
            together = 1
        manner = settings._replace(leaves_per_tree=min(leaves, rows[-1] * together), visits_per_leaf=VISITS_PER_LEAF)
        sizes = num_trees, max_nodes or nodes, threads
        return Search(checkpoint.game, selection, manner, evaluator, *sizes, rollout, together)

    agent = SearchAgent(name, checkpoint.game, limit, make_search, seed, most_leaves=threads * BATCHES[-1])
    agent.resign_below = resign_below
    agent.net_alone = net.judge_alone
    agent.heads_alone = net.heads_alone if checkpoint.config.heads else None
    return agent
