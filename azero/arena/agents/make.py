"""Makes the agent of a name. `names.py` has the names."""

from collections.abc import Callable
from functools import partial

from azero.arena.agents.agent import Agent, RandomAgent
from azero.arena.agents.checkpoints import find_checkpoint, identity_of_agent, trust_search
from azero.arena.agents.classical import make_classical_agent
from azero.arena.agents.levels import LevelAgent, levels_of, parse_level
from azero.arena.agents.names import DEVICE_SETTINGS, AgentName, Options, join_options, parse_name
from azero.arena.agents.search_agent import VISITS_PER_LEAF, SearchAgent
from azero.config.reading import override_section
from azero.config.schema import DeviceConfig, SearchConfig
from azero.errors import BadInput, suggest_nearest
from azero.games import Game, make_game
from azero.mcts import Evaluator, Settings, TreeSearch, rollout_from_config, selection_from_config
from azero.mcts.evaluation.evaluator import LateEvaluator
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.strategies import Root, users_root
from azero.mcts.roots.visits import VisitsRoot

MOST_NODES = 1 << 27
"""Nodes of the largest tree, 4 GiB. A search takes the memory as it grows."""

MOST_LEAVES = 32
"""Leaves of a tree that may wait for the net, for each thread."""

PASS_ROWS = 8
"""Rows of a forward pass if several leaves of a tree wait. A batch takes several passes, and few rows stay empty."""


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
        match with a limit in seconds.
      device: device, runtime and precision of a net; the best available ones by default.
      max_nodes: most nodes of a tree; a full tree stops growing. By default as many as the search needs.
      net: the name of a user's own net, with its present file; by default the checkpoint names it.
    """
    if max_nodes is not None and not 1 <= max_nodes <= MOST_NODES:
        raise BadInput(f"max_nodes = {max_nodes} should be from 1 to {MOST_NODES:,}")
    if threads < 1:
        raise BadInput(f"threads = {threads} should be 1 or more")
    game, parsed = make_game(game) if isinstance(game, str) else game, parse_name(name)
    make = partial(make_agent, seed=seed, device=device, max_nodes=max_nodes, net=net)
    agent: Agent
    if parsed.level is not None:
        agent = _level_agent(parsed, partial(make, game=game, threads=threads))
    elif parsed.kind == "net":
        agent = _net_agent(parsed, game, seed, threads, device or DeviceConfig(), max_nodes, net)
    elif game is None:
        raise BadInput(f"agent {name!r} can play any game: name one with --game, e.g. --game connect_four")
    elif parsed.kind == "program":
        agent = _program_agent(parsed, game, seed)
    elif parsed.kind == "openspiel":
        from azero.arena.agents.openspiel import make_openspiel_agent

        agent = make_openspiel_agent(parsed, game, seed)
    elif parsed.kind == "classical":
        agent = make_classical_agent(parsed, game, seed, threads, max_nodes)
    elif name == "random":
        agent = RandomAgent(name, game, seed)
    else:
        raise BadInput(f"agent {name!r}: random has no limit and no options; write just random")
    agent.remake = partial(make, name, agent.game, threads=1)
    return agent


def _level_agent(parsed: AgentName, make: Callable[[str], Agent]) -> Agent:
    """Returns the agent at the level in its name. `make` makes it at full strength."""
    if not parsed.limit.is_default:
        raise BadInput(f"agent {parsed.text!r} has a limit and a level, which has its own simulations; give only one")
    assert parsed.level is not None, "it has one"
    level, base = parse_level(parsed.level), join_options(parsed.word, parsed.options)
    inner = make(base)
    return LevelAgent(inner, levels_of(inner.game, identity_of_agent(base)).level(level), parsed.text)


def _program_agent(parsed: AgentName, game: Game, seed: int) -> Agent:
    options = Options(join_options(parsed.word, parsed.options), parsed.options)
    if parsed.word == "uci":
        from azero.arena.agents.engines.uci import UciAgent

        return UciAgent(parsed.text, game, options, parsed.command, seed)
    if parsed.word == "gomocup":
        from azero.arena.agents.engines.gomocup import GomocupAgent

        return GomocupAgent(parsed.text, game, options, parsed.command, seed)
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
    from azero.mcts.reference.trial import try_strategies
    from azero.nets.checkpoint_file import read_checkpoint, rule_of_card
    from azero.nets.devices import device_type
    from azero.nets.quick_start import QuickNet
    from azero.nets.runtimes.session import MATCH_ROWS

    name, own, options = parsed.text, parsed.device_settings or {}, Options(parsed.text, parsed.options)
    trust_search(parsed)
    checkpoint = read_checkpoint(find_checkpoint(parsed.word), game, net_name)
    resign_below, root = options.resign_below(), _root_of(options)
    overrides = {key: value for key, value in options.rest().items() if key not in own}
    for key in overrides:
        if key not in SearchConfig.model_fields:
            known = suggest_nearest(key, [*SearchConfig.model_fields, *DEVICE_SETTINGS, "resign", "root"])
            raise BadInput(f"agent {name!r}: unknown option {key!r}; {known}")
    device = override_section(DeviceConfig, device.model_dump(), own)
    if "selection" not in overrides:
        overrides["selection"] = rule_of_card(checkpoint.path, checkpoint.card)
    config = override_section(SearchConfig, checkpoint.card.search, overrides)
    if "rollout" in overrides and config.rollout_weight == 0:
        raise BadInput(f"agent {name!r}: rollout has no effect if rollout_weight is 0; add e.g. rollout_weight=0.5")
    selection, settings = selection_from_config(config), Settings.from_config(config)._replace(root=root)
    try_strategies(selection, root)
    rollout = rollout_from_config(config, checkpoint.game)
    net = QuickNet(checkpoint, device)
    is_on_device = device_type(device.device) != "cpu"

    def make_search(num_trees: int, nodes: int, leaves: int) -> TreeSearch:
        together = 1 if is_on_device else min(threads, leaves)  # threads for the leaves of one tree
        rows = PASS_ROWS if leaves > 1 else MATCH_ROWS if num_trees > 1 else 1

        def open_evaluator() -> Evaluator:
            evaluator = net.evaluator(rows, threads)
            agent.runtime = evaluator.runtime
            if leaves > 1 and not evaluator.fills_up:
                evaluator.rows = MOST_LEAVES  # larger passes are faster, and no row stays empty
            return evaluator

        evaluator = LateEvaluator(open_evaluator, net.compile, is_on_device)
        manner = settings._replace(leaves_per_tree=min(leaves, MOST_LEAVES * together), visits_per_leaf=VISITS_PER_LEAF)
        sizes = num_trees, max_nodes or nodes, threads
        return TreeSearch(checkpoint.game, selection, manner, evaluator, *sizes, rollout, together)

    most_leaves = threads * MOST_LEAVES if type(root).root_child is VisitsRoot.root_child else 1
    agent = SearchAgent(name, checkpoint.game, parsed.limit, make_search, seed, most_leaves=most_leaves)
    agent.can_ponder, agent.resign_below = root.may_keep_tree(), resign_below
    agent.net_alone = net.judge_alone
    agent.heads_alone = net.heads_alone if checkpoint.config.heads else None
    return agent


def _root_of(options: Options) -> Root:
    """Returns the root strategy that an agent's option `root` names; a plain one by default."""
    name = options.text("root") or "visits"
    if ".py:" in name:
        return users_root(name)
    if name not in ("visits", "gumbel"):
        raise BadInput(f"agent {options.base!r}: root = {name} should be visits, gumbel or one of your own, my.py:Root")
    return GumbelRoot() if name == "gumbel" else VisitsRoot()
