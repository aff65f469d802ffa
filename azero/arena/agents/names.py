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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from azero.arena.agents.agent import Agent, Limit, RandomAgent
from azero.arena.agents.checkpoints import exists, find_checkpoint, has_folder
from azero.arena.agents.classical import CLASSICAL, make_classical_agent
from azero.arena.agents.levels import LevelAgent, levels_of, parse_level
from azero.arena.agents.options import Options, join_options, split_options, split_program
from azero.arena.agents.search_agent import VISITS_PER_LEAF, SearchAgent
from azero.compiler.jit import IS_COMPILED
from azero.config.reading import override_section
from azero.config.schema import DeviceConfig, SearchConfig
from azero.errors import BadInput, suggest_nearest
from azero.games import Game, make_game
from azero.mcts import Settings, TreeSearch, rollout_from_config, selection_from_config
from azero.system.files import read_regular

MOST_NODES = 1 << 27
"""Nodes of the largest tree, 4 GiB. A search takes the memory as it grows."""

BATCHES = (8, 32)
"""Rows of a thread's forward pass: few while few leaves of a tree may wait for the net, more in long searches."""

UNLESS_GIVEN = Limit(400, is_default=True)
"""The limit of each move of an agent whose name has none."""

_LARGEST = 1 << 30  # bytes of a checkpoint
_DEVICE_SETTINGS = ("device", "runtime", "precision")


@dataclass(frozen=True)
class AgentName:
    """An agent's name, split into its parts by `parse_name`.

    Attributes:
      text: the whole name.
      kind: random, classical, net or program.
      base: the name without its limit.
      word: the base without options: random, uct, gtp, or the path or name of a checkpoint.
      options: without the level.
      level: None if the name has none.
      limit: of each move.
      command: of a program.
    """

    text: str
    kind: str
    base: str
    word: str
    options: dict[str, str]
    level: str | None = None
    limit: Limit = UNLESS_GIVEN
    command: str = ""

    @property
    def device_settings(self) -> dict[str, str] | None:
        """The settings of a net's device, by setting; None for agents without a net."""
        if self.kind != "net":
            return None
        return {key: value for key, value in self.options.items() if key in _DEVICE_SETTINGS}


def parse_name(text: str) -> AgentName:
    """Splits an agent's name; raises BadInput if it is written wrongly."""
    if program := split_program(text):
        word, options = split_options(program[0])
        return AgentName(text, "program", text, word, options, command=program[1])
    base, limit = _split_limit(text)
    word = base.partition("(")[0]
    kind = "random" if word == "random" else "classical" if word in CLASSICAL else "net"
    word, options = _split_net(base) if kind == "net" else split_options(base)
    return AgentName(text, kind, base, word, options, options.pop("level", None), limit)


def _split_limit(text: str) -> tuple[str, Limit]:
    """Splits `base@limit`. The limit is a number of simulations or, with an s, of seconds."""
    base, at, limit = text.rpartition("@")
    if not at:
        return text, UNLESS_GIVEN
    if not re.fullmatch(r"-?\d{1,15}|-?\d{1,15}(\.\d{0,15})?s", limit, re.ASCII):
        if has_folder(limit) or exists(Path(text)):
            return text, UNLESS_GIVEN
        raise BadInput(
            f"agent {text!r}: limit {limit!r} should be simulations or seconds, e.g. {base}@800 or {base}@2s"
        )
    try:
        return base, Limit(seconds=float(limit[:-1])) if limit.endswith("s") else Limit(int(limit))
    except BadInput as error:
        raise BadInput(f"agent {text!r}: {error}") from None


def _split_net(base: str) -> tuple[str, dict[str, str]]:
    """Splits `PATH(key=value,...)`. The path of an existing file may contain parentheses."""
    path, _, options = base.rpartition("(")
    if exists(Path(base)):
        return base, {}
    if path and exists(Path(path)):
        return path, split_options(f"({options}")[1]
    return split_options(base)


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
    game, parsed = make_game(game) if isinstance(game, str) else game, parse_name(name)
    if parsed.level is not None:
        return _level_agent(
            parsed,
            partial(make_agent, game=game, seed=seed, threads=threads, device=device, max_nodes=max_nodes, net=net),
        )
    if parsed.kind == "net":
        return _net_agent(parsed, game, seed, threads, device or DeviceConfig(), max_nodes, net)
    if game is None:
        raise BadInput(f"agent {name!r} can play any game: name one with --game, e.g. --game connect_four")
    if parsed.kind == "program":
        return _program_agent(parsed, game, seed)
    if parsed.kind == "classical":
        return make_classical_agent(name, parsed.base, game, parsed.limit, seed, threads, max_nodes)
    if name != "random":
        raise BadInput(f"agent {name!r}: random has no limit and no options; write just random")
    return RandomAgent(name, game, seed)


def game_of(name: str) -> Game | None:
    """Returns the game of an agent's checkpoint; None for agents that can play any game."""
    parsed = parse_name(name)
    if parsed.kind != "net":
        return None
    from azero.nets.checkpoint_file import game_of_card, read_card

    path = find_checkpoint(parsed.word)
    return game_of_card(path, read_card(path))


def identity_of(name: str) -> str:
    """Returns an agent's name with the digest of its checkpoint's file in place of the path; raises BadInput.

    So a net has the same identity wherever it lies, and another one if its file changes.
    """
    parsed = parse_name(name)
    if parsed.kind != "net":
        return name
    digest = hashlib.blake2b(read_regular(find_checkpoint(parsed.word), _LARGEST), digest_size=8).hexdigest()
    return f"net:{digest}{name.removeprefix(parsed.word)}"


def _level_agent(parsed: AgentName, make: Callable[[str], Agent]) -> Agent:
    """Returns the agent at the level in its name. `make` makes it at full strength."""
    if not parsed.limit.is_default:
        raise BadInput(f"agent {parsed.text!r} has a limit and a level, which has its own simulations; give only one")
    assert parsed.level is not None, "it has one"
    level, base = parse_level(parsed.level), join_options(parsed.word, parsed.options)
    inner = make(base)
    return LevelAgent(inner, levels_of(inner.game, identity_of(base)).level(level), parsed.text)


def _resign_below(name: str, value: str | None) -> float | None:
    try:
        return Options("net" if value is None else f"net(resign={value})").resign_below()
    except BadInput:
        raise BadInput(f"agent {name!r}: resign = {value} should be a number from -1 to 1") from None


def _program_agent(parsed: AgentName, game: Game, seed: int) -> Agent:
    options = Options(join_options(parsed.word, parsed.options))
    if options.word == "uci":
        from azero.arena.agents.engines.uci import UciAgent

        return UciAgent(parsed.text, game, options, parsed.command, seed)
    from azero.arena.agents.engines.gtp import GtpAgent

    return GtpAgent(parsed.text, game, options, parsed.command, seed)


def _net_agent(
    parsed: AgentName,
    game: Game | None,
    seed: int,
    threads: int,
    device: DeviceConfig,
    max_nodes: int | None,
    net_name: str | None,
) -> Agent:
    # Imported here, so that agents without a net start sooner. They do not import torch, which takes a second.
    from azero.nets.checkpoint_file import read_checkpoint
    from azero.nets.quick_start import QuickNet
    from azero.nets.runtimes.session import MATCH_ROWS, evaluator_of_sizes

    name, own = parsed.text, parsed.device_settings or {}
    overrides = {key: value for key, value in parsed.options.items() if key not in own}
    checkpoint = read_checkpoint(find_checkpoint(parsed.word), game, net_name)
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

    def make_search(num_trees: int, nodes: int, leaves: int) -> TreeSearch:
        together = min(threads, leaves) if IS_COMPILED else 1  # threads that search one tree
        most = leaves // together
        rows = [MATCH_ROWS] if num_trees > 1 and leaves == 1 else [each for each in BATCHES if each <= most] or [1]
        evaluator = evaluator_of_sizes([net.evaluator(each, threads) for each in rows])
        agent.runtime = evaluator.runtime
        if evaluator.is_on_device:
            together = 1
        manner = settings._replace(leaves_per_tree=min(leaves, rows[-1] * together), visits_per_leaf=VISITS_PER_LEAF)
        sizes = num_trees, max_nodes or nodes, threads
        return TreeSearch(checkpoint.game, selection, manner, evaluator, *sizes, rollout, together)

    agent = SearchAgent(name, checkpoint.game, parsed.limit, make_search, seed, most_leaves=threads * BATCHES[-1])
    agent.resign_below = resign_below
    agent.net_alone = net.judge_alone
    agent.heads_alone = net.heads_alone if checkpoint.config.heads else None
    return agent
