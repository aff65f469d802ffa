"""Makes what a page needs of an agent: a WebAssembly module, the weights of its net, and a manifest."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import azero
from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import find_checkpoint, identity_of_agent
from azero.arena.agents.levels import levels_of
from azero.arena.agents.levels.agent import LEVEL_ROOT
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import parse_name
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, make_game, without_compiling
from azero.games.defaults import has_own
from azero.games.names import identity_of
from azero.mcts import Puct, Settings, TreeSearch, Uct
from azero.mcts.roots.visits import VisitsRoot
from azero.nets.checkpoint_file import CheckpointFile, read_checkpoint
from azero.nets.runtimes.calibration import sample_positions
from azero.publishing.worker import Job, compile_apart

FORMAT = 1
"""Format version of the manifest."""

_SIMULATIONS = 1000
"""Simulations of a suggestion if the agent's name has a limit in seconds."""

MOST_LOSS = 0.01
"""The most that a value may change by weights in 16 bits, in [-1, 1]. Else they have 32."""

_PLAIN: dict[str, Any] = {
    "is_looking_ahead": False,
    "proof_nodes": 0,
    "rollout_weight": 0.0,
    "is_stopping_early": False,
    "cache_mib": 0,
    "root": VisitsRoot(),
}
"""Settings of a search that is shown one simulation at a time."""


@dataclass(frozen=True)
class Published:
    """An agent for browsers.

    Attributes:
      name: the agent's, as `make_agent` takes it.
      game: the game that it plays.
      wasm: the module.
      weights: of the net, little-endian, of the type that the manifest says; empty without a net.
      manifest: what `engine.js` and the page need to know, as an object of JSON.
    """

    name: str
    game: Game
    wasm: bytes
    weights: bytes
    manifest: dict[str, Any]


def build(agent: str, game: Game | str | None = None) -> Published:
    """Returns an agent for browsers.

    Args:
      agent: a net by the name of a shipped one, a checkpoint or a run, or `uct`, as `make_agent` takes it.
      game: needed for `uct`; a checkpoint has its own.

    Raises BadInput if the agent, its net or its rules cannot run there.
    """
    game = make_game(game) if isinstance(game, str) else game
    parsed = parse_name(agent)
    if parsed.kind not in ("net", "classical") or parsed.level is not None:
        what = "has a level; the page has all levels" if parsed.level else "is not a net or uct"
        raise BadInput(f"agent {agent!r} {what}; a page can hold nets and uct")
    made = make_agent(agent, game)
    search = made.new_search() if hasattr(made, "new_search") else None
    if search is None or not isinstance(search.selection, Puct | Uct):
        raise BadInput(f"agent {agent!r} cannot be published; a page can hold nets with PUCT, and uct with a tree")
    game, file = made.game, None
    if parsed.kind == "net":
        file = read_checkpoint(find_checkpoint(parsed.word), game)
    job = Job(str(game), identity_of(game.rules), search.rollout, None if file is None else file.path)
    compiled = compile_apart(job)
    weights, kind, loss = compiled.weights, "float32", 0.0
    if file is not None and (loss := loss_of_halves(file)) <= MOST_LOSS:
        weights, kind = np.frombuffer(weights, "<f4").astype("<f2").tobytes(), "float16"
    net = None
    if file is not None:
        size = len(compiled.weights) // 4
        net = {"architecture": file.config.name, "parameters": size, "valueLoss": round(loss, 5)}
    manifest = {
        "format": FORMAT,
        "azero": azero.__version__,
        "game": describe_game(game),
        "agent": {**_describe_agent(made, search, file), "net": net},
        "settings": settings_of(search),
        "weights": kind,
        "wasm": compiled.places,
    }
    made.close()
    return Published(agent, game, compiled.module, weights, manifest)


def _describe_agent(made: Agent, search: TreeSearch, file: CheckpointFile | None) -> dict[str, Any]:
    """Returns what a page needs to know of an agent, besides its net."""
    parsed = parse_name(made.name)
    table = levels_of(made.game, identity_of_agent(parsed.base))
    limit = parsed.limit.simulations if parsed.limit.seconds is None else _SIMULATIONS
    return {
        "name": made.name,
        "title": made.name if file is None else f"azero {parsed.word}",
        "method": "puct" if isinstance(search.selection, Puct) else "uct",
        "simulations": limit,
        "levels": [{**each.to_json(), "isFull": each.is_full} for each in table.levels],
        "adaptive": table.adaptive.to_json(),
        "heads": [],
        "card": None if file is None else asdict(file.card),
    }


def settings_of(search: TreeSearch) -> dict[str, dict[str, Any]]:
    """Returns the numbers of each kind of search, see `entries.NUMBERS_DTYPE`.

    Kinds: full, of a suggestion; analysis, which makes all simulations; level; shown, one simulation at a time.
    """
    own = search.settings._replace(leaves_per_tree=1, visits_per_leaf=0)
    level = own._replace(is_stopping_early=False, proof_nodes=0)
    if search.evaluator is not None:
        level = level._replace(root=LEVEL_ROOT)
    kinds = {
        "full": own,
        "analysis": own._replace(is_stopping_early=False),
        "level": level,
        "shown": own._replace(**_PLAIN),
    }
    return {name: _numbers_of(search.selection, settings) for name, settings in kinds.items()}


def _numbers_of(selection: Any, settings: Settings) -> dict[str, Any]:
    """Returns the numbers of a search by name."""
    puct = selection if isinstance(selection, Puct) else Puct()
    uct = selection if isinstance(selection, Uct) else Uct()
    own = settings._asdict()
    names = (
        *("is_proving", "is_looking_ahead", "is_stopping_early", "proof_nodes", "min_visits", "leaves_per_tree"),
        *("visits_per_leaf", "chosen_by", "rollout_weight"),
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
    rules = game.rules
    return {
        "id": game.name,
        "name": game.name,
        "numActions": game.num_actions,
        "maxPlies": game.max_plies,
        "planes": list(game.planes_shape),
        "isHistoryFree": bool(rules.is_history_free),
        "hasScore": has_own(rules, "final_score"),
        "hasOwnership": has_own(rules, "ownership"),
        "stateBytes": rules.state_dtype.itemsize,
        "state": _fields_of(rules.state_dtype),
        "texts": texts_of(game),
    }


def _fields_of(dtype: np.dtype) -> list[dict[str, Any]]:
    """Returns the fields of a state."""
    assert dtype.fields is not None
    found = []
    for name, (kind, offset, *_) in dtype.fields.items():
        base, shape = kind.subdtype or (kind, ())
        found.append({"name": name, "type": base.name, "offset": offset, "shape": list(shape)})
    return found


_GAMES_FOR_TEXTS = 6


def texts_of(game: Game) -> list[str] | None:
    """Returns the text of each action, as random games show them; None if it depends on the position."""
    chooser = np.random.default_rng(derive_seed(0, "texts"))
    texts: dict[int, str] = {}
    with without_compiling(game.rules):
        for _ in range(_GAMES_FOR_TEXTS):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                for action in legal:
                    text = game.action_to_text(state, action)
                    if texts.setdefault(action, text) != text:
                        return None
                state.apply_action(int(chooser.choice(legal)))
        start = game.new_initial_state()
        return [texts.get(action) or game.action_to_text(start, action) for action in range(game.num_actions)]
