"""Makes what a page needs of an agent: a WebAssembly module, the weights of its net, and a manifest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import find_checkpoint, identity_of_agent
from azero.arena.agents.levels import levels_of
from azero.arena.agents.levels.agent import LEVEL_ROOT
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import parse_name
from azero.arena.agents.position_search import SOLVE_NODES, SOLVED_AFTER
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.games.names import identity_of
from azero.mcts import Puct, Settings, TreeSearch, Uct
from azero.mcts.reference.shown import plain
from azero.mcts.roots.visits import VisitsRoot
from azero.nets.architectures.drawing import ARCHITECTURES
from azero.nets.checkpoint_file import CheckpointFile, read_checkpoint
from azero.nets.runtimes.calibration import sample_positions
from azero.publishing.worker import Job, Made, Wanted, compile_apart

MOST_LOSS = 0.01
"""The most that a value may change by weights in 16 bits, in [-1, 1]. Else they have 32."""

MOST_PARAMETERS = 8_000_000
"""Such a net takes some 30 ms for a position, and makes a page of 20 MB."""


@dataclass(frozen=True)
class Published:
    """An agent for browsers.

    Attributes:
      name: the agent's, as `make_agent` takes it.
      game: the game that it plays.
      wasm: the module.
      weights: of the net, little-endian, of the type that the manifest says; empty without a net.
      manifest: what `engine.js` needs to know, as an object of JSON.
      facts: what the page says of the net, by name; empty without a net.
    """

    name: str
    game: Game
    wasm: bytes
    weights: bytes
    manifest: dict[str, Any]
    facts: dict[str, int]


def build(agent: str, game: Game | str | None = None) -> Published:
    """Returns an agent for browsers; see `build_all`."""
    return build_all([agent], game)[0]


def build_all(agents: Sequence[str], game: Game | str | None = None) -> list[Published]:
    """Returns agents of one game for browsers. Those without a net share a module with another; so do equal nets.

    Args:
      agents: nets by the names of shipped ones, checkpoints or runs, or `uct`, as `make_agent` takes them.
      game: needed for `uct`; a checkpoint has its own.

    Raises BadInput if an agent, its net or its rules cannot run there.
    """
    found = [_make(each, game) for each in agents]
    for made, _, _ in found:
        made.close()
    game = found[0][0].game
    assert all(made.game == game for made, _, _ in found), "agents of one game"
    wanted = [_wanted(search, file) for _, search, file in found]
    compiled = compile_apart(Job(str(game), identity_of(game.rules), wanted))
    return [_published(name, *each, made) for name, each, made in zip(agents, found, compiled, strict=True)]


def _wanted(search: TreeSearch, file: CheckpointFile | None) -> Wanted:
    most = max(each["solve_nodes"] for each in settings_of(search).values())
    return Wanted(search.rollout, most, None if file is None else file.path)


def _published(name: str, made: Agent, search: TreeSearch, file: CheckpointFile | None, compiled: Made) -> Published:
    """Returns an agent with what was compiled for it."""
    weights, kind, facts = compiled.weights, "float32", dict[str, int]()
    if file is not None:
        card = file.card
        known = {"steps of training": card.step, "positions of self-play": card.positions}
        facts = {"parameters": num_parameters(file), **{what: number for what, number in known.items() if number}}
        if loss_of_halves(file) <= MOST_LOSS:
            weights, kind = np.frombuffer(weights, "<f4").astype("<f2").tobytes(), "float16"
    manifest = {
        "game": describe_game(made.game),
        "agent": _describe_agent(made, search),
        "settings": settings_of(search),
        "weights": kind,
        "exact": compiled.exact,
        "wasm": compiled.places,
    }
    return Published(name, made.game, compiled.module, weights, manifest, facts)


def game_of(agent: str, game: Game | str | None = None) -> Game:
    """Returns the game of an agent for browsers; raises BadInput as `build`, except for what compilation finds."""
    made, _, _ = _make(agent, game)
    made.close()
    return made.game


def _make(agent: str, game: Game | str | None) -> tuple[Agent, TreeSearch, CheckpointFile | None]:
    """Returns an agent, its search and the file of its net; raises BadInput if a page cannot hold it."""
    game = make_game(game) if isinstance(game, str) else game
    parsed = parse_name(agent)
    if parsed.kind not in ("net", "classical") or parsed.level is not None:
        what = "has a level; the page has all levels" if parsed.level else "is not a net or uct"
        raise BadInput(f"agent {agent!r} {what}; a page can hold nets and uct")
    if parsed.limit.seconds is not None:
        raise BadInput(f"agent {agent!r} has a limit in seconds; a page counts simulations, e.g. {parsed.base}@800")
    made = make_agent(agent, game)
    if made.game.rules.calls_python:
        made.close()
        raise BadInput(f"agent {agent!r} cannot be published: the rules of {made.game} cannot be compiled")
    search = made.new_search() if hasattr(made, "new_search") else None
    is_plain = search is not None and type(search.selection) in (Puct, Uct) and type(search.settings.root) is VisitsRoot
    if search is None or not is_plain:
        raise BadInput(f"agent {agent!r} cannot be published; a page can hold nets with PUCT, and uct with a tree")
    if parsed.kind == "classical":
        return made, search, None
    file = read_checkpoint(find_checkpoint(parsed.word), made.game)
    if file.config.name not in ARCHITECTURES:
        raise BadInput(f"agent {agent!r} has a net of your own; a page can hold azero's own nets only")
    size = num_parameters(file)
    if size > MOST_PARAMETERS:
        raise BadInput(f"agent {agent!r} has a net of {size:,} parameters; a page can hold {MOST_PARAMETERS:,}")
    return made, search, file


def num_parameters(file: CheckpointFile) -> int:
    return sum(each.size for each in file.weights.values())


def _describe_agent(made: Agent, search: TreeSearch) -> dict[str, Any]:
    """Returns what `engine.js` needs to know of an agent."""
    parsed = parse_name(made.name)
    table = levels_of(made.game, identity_of_agent(parsed.base))
    return {
        "method": "puct" if isinstance(search.selection, Puct) else "uct",
        "simulations": parsed.limit.simulations,
        "levels": [{**each.to_json(), "isFull": each.is_full} for each in table.levels],
        "adaptive": table.adaptive.to_json(),
    }


def settings_of(search: TreeSearch) -> dict[str, dict[str, Any]]:
    """Returns the numbers of each kind of search, see `entries.NUMBERS_DTYPE`.

    Kinds: full, of a suggestion; analysis, which makes all simulations; level; shown, one simulation at a time.
    """
    own = search.settings._replace(leaves_per_tree=1, visits_per_leaf=0)
    own = own._replace(solve_nodes=own.solve_nodes if search.can_solve else 0)
    level = own._replace(is_stopping_early=False, proof_nodes=0, solve_nodes=0)
    if search.evaluator is not None:
        level = level._replace(root=LEVEL_ROOT)
    kinds = {
        "full": own,
        "analysis": own._replace(is_stopping_early=False, solve_nodes=own.solve_nodes or own.is_proving * SOLVE_NODES),
        "level": level,
        "shown": plain(own),
    }
    found = {name: _numbers_of(search.selection, settings) for name, settings in kinds.items()}
    found["analysis"]["solves_after"] = SOLVED_AFTER
    return found


def _numbers_of(selection: Any, settings: Settings) -> dict[str, Any]:
    """Returns the numbers of a search by name."""
    puct = selection if isinstance(selection, Puct) else Puct()
    uct = selection if isinstance(selection, Uct) else Uct()
    own = settings._asdict()
    names = (
        *("is_proving", "is_looking_ahead", "is_stopping_early", "proof_nodes", "min_visits", "leaves_per_tree"),
        *("visits_per_leaf", "chosen_by", "rollout_weight", "solve_nodes"),
    )
    root = settings.root
    assert isinstance(root, VisitsRoot), "agents have no other"
    return {
        **{name: own[name] for name in names},
        **root._asdict(),
        **puct._asdict(),
        "c_uct": uct.c,
        "is_caching": settings.cache_mib > 0,
    }


def loss_of_halves(file: CheckpointFile) -> float:
    """Returns the most by which weights in 16 bits change the value of a position, of those for calibration."""
    import torch

    from azero.nets.architectures.contract import fold
    from azero.nets.checkpoint import load_net

    net = fold(load_net(file).net)
    planes = torch.from_numpy(sample_positions(file.game))

    def values() -> torch.Tensor:
        shares = torch.softmax(net(planes)[1], dim=1)
        return shares[:, 0] - shares[:, 2]

    with torch.no_grad():
        exact = values()
        for each in net.parameters():
            each.copy_(each.half().float())
        return float((values() - exact).abs().max())


def describe_game(game: Game) -> dict[str, Any]:
    """Returns what `engine.js` needs to know of a game."""
    return {
        "numActions": game.num_actions,
        "maxPlies": game.max_plies,
        "planes": list(game.planes_shape),
        "stateBytes": game.rules.state_dtype.itemsize,
    }
