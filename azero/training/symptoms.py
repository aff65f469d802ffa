"""The figures that tell how a run does: its settings, and what its metrics show. `azero.training.health` judges them.

Limits are far from what the included configs have, and from what healthy runs show. `benchmarks/faults.py` makes runs
with one fault each, and healthy ones.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

from azero.training.health import CERTAIN, EARLY, LASTING, LEARNED, STALLED, UNIFORM, Case, Figure, Side, number_of

Values = Callable[[Case], Sequence[float]]
Condition = Callable[[Case], bool]


def _setting(name: str, is_read: Condition = lambda case: True) -> tuple[str, Values]:
    return name, lambda case: [case.setting(name)] if is_read(case) else []


def _metric(name: str, is_read: Condition = lambda case: True) -> tuple[str, Values]:
    return name, lambda case: case.last(name) if is_read(case) else []


def _ratio(one: float, other: float) -> list[float]:
    return [one / other] if other > 0 else []


def _pairs(function: Callable[..., float], *names: str) -> Values:
    """Returns a function of several metrics in the last iterations."""
    return lambda case: [function(*each) for each in zip(*(case.last(name) for name in names), strict=False)]


def _is_new(case: Case) -> bool:
    """Returns whether the run began with random weights, and its own games."""
    return case.config.training.first_net == "none" and case.config.replay.first_games == "none"


def _is_early(case: Case) -> bool:
    return _is_new(case) and case.last("iteration", 1) != [] and case.last("iteration", 1)[0] <= EARLY


def _is_open(case: Case) -> bool:
    """Returns whether searches prove few positions. Where they prove most, the net may play perfectly."""
    return max(case.last("selfplay/proven"), default=0.0) < 0.5


def _has_noise(case: Case) -> bool:
    return case.config.selfplay.root == "noise"


def _has_gumbel(case: Case) -> bool:
    return case.config.selfplay.root == "gumbel"


def _has_gate(case: Case) -> bool:
    return case.config.gate.win_rate_threshold > 0.1


def _is_muon(case: Case) -> bool:
    return case.config.training.optimizer == "muon"


def _is_sgd(case: Case) -> bool:
    return case.config.training.optimizer == "sgd"


def _loss_to_first(part: str) -> Values:
    """The loss in training now, and the first net's; a run may begin with a trained net, whose loss is lower."""

    def values(case: Case) -> list[float]:
        first, now = case.first(f"fresh/{part}"), case.last(f"train/{part}", 1)
        return [now[0] / max(first, UNIFORM)] if first is not None and now else []

    return values


def _unlearned(case: Case) -> list[float]:
    """How much of what the policy could learn from the first iteration on is not learned yet, as shares, at most 1."""
    losses, targets = case.last("train/policy_loss"), case.last("train/target_entropy")
    first_loss, first_target = case.first("fresh/policy_loss"), case.first("train/target_entropy")
    if len(case.lines) <= LASTING or not _is_new(case) or first_loss is None or first_target is None:
        return []
    first = first_loss - first_target
    return [
        min(1.0, loss / first_loss, (loss - target) / first)
        for loss, target in zip(losses, targets, strict=False)
        if first > CERTAIN and first_loss > 0
    ]


def _rise(part: str) -> Values:
    """The loss on fresh positions in the last iterations, to that in the ones before, where that in training falls."""

    def values(case: Case) -> list[float]:
        fresh, train = case.last(f"fresh/{part}", 2 * LASTING), case.last(f"train/{part}", 2 * LASTING)
        if not fresh or not train:
            return []
        (fresh_before, fresh_now), (before, now) = (
            (fmean(each[:LASTING]), fmean(each[LASTING:])) for each in (fresh, train)
        )
        return _ratio(fresh_now, fresh_before) if now < before and fresh_now - now > 0.1 else []

    return values


def _since_promotion(case: Case) -> list[float]:
    promotions = [number_of(line, "gate/promotions") or 0.0 for line in case.lines]
    return [float(sum(each == promotions[-1] for each in promotions) - 1)] if promotions else []


def _ends_alike(case: Case) -> list[float]:
    """The largest share of games with the same result, where the value has learned it."""
    draws, firsts = case.last("selfplay/draws"), case.last("selfplay/first_player_score")
    losses = case.last("train/value_loss")
    is_read = losses and max(losses) < LEARNED and _is_open(case)
    return [max(draw, first, 1 - first) for draw, first in zip(draws, firsts, strict=False)] if is_read else []


def _sampled_plies(case: Case) -> list[float]:
    """The plies whose moves are sampled, where nothing else makes games differ."""
    play = case.config.selfplay
    if play.final_temperature >= 0.1 or play.random_opening_share >= 0.2 or play.starts != "none":
        return []
    return [float(play.temperature_plies) if play.temperature >= 0.1 else 0.0]


def _window(case: Case) -> list[float]:
    """The iterations that the window has room for."""
    window = max(case.setting("replay.window"), *case.last("replay/positions", 1), 0.0)
    return [window / each for each in case.last("selfplay/positions") if each > 0]


def _iterations_in_window(case: Case) -> list[float]:
    played = zip(case.last("replay/positions"), case.last("selfplay/positions"), strict=False)
    return [window / fresh for window, fresh in played if fresh > 0] if _is_new(case) else []


def _random_moves(case: Case) -> list[float]:
    """The share of moves in games that openings make."""
    play = case.config.selfplay
    random = play.random_opening_share * (1 + play.random_opening_plies) / 2
    return [random / (random + each) for each in case.last("selfplay/mean_plies") if each > 0]


def _weights_by_positions(case: Case) -> list[float]:
    """The weights of a tower's blocks for each position of the run."""
    net = case.config.net
    is_read = net.name in ("tower", "any_size") and _is_new(case)
    return _ratio(18 * net.blocks * net.channels**2, case.planned) if is_read else []


OF_SETTINGS: tuple[Figure, ...] = (
    Figure(
        *_setting("training.muon_learning_rate", _is_muon),
        Side(0.001, "the learning rate is too low", "raise it; 0.04 is usual"),
        Side(0.3, "the learning rate is too high", "lower it; 0.04 is usual"),
    ),
    Figure(
        *_setting("training.learning_rate", lambda case: not _is_sgd(case)),
        Side(0.00005, "the learning rate is too low", "raise it; 0.002 is usual"),
        Side(0.02, "the learning rate is too high", "lower it; 0.002 is usual"),
    ),
    Figure(
        "training.learning_rate of sgd",
        lambda case: [case.setting("training.learning_rate")] if _is_sgd(case) else [],
        Side(0.005, "the learning rate is too low", "raise it; 0.05 is usual"),
        Side(1, "the learning rate is too high", "lower it; 0.05 is usual"),
    ),
    Figure(
        *_setting("training.batch_size"),
        Side(32, "batches are too small", "raise it; 256 is usual"),
    ),
    Figure(
        *_setting("training.lessons_share", lambda case: case.config.training.lessons != "none"),
        None,
        Side(0.8, "self-play is hardly learned from", "lower it; 0.25 is usual"),
    ),
    Figure(
        "training.warmup_steps over all steps",
        lambda case: _ratio(case.setting("training.warmup_steps"), case.steps),
        None,
        Side(0.9, "the warm-up is too long", "lower training.warmup_steps"),
    ),
    Figure(
        *_setting("training.gradient_clip", lambda case: _is_sgd(case) and case.setting("training.gradient_clip") > 0),
        Side(0.05, "gradients are clipped too strongly", "raise it; 5 is usual"),
    ),
    Figure(
        *_setting("training.weight_decay"),
        None,
        Side(0.1, "weights decay too fast", "lower it; 0.0001 is usual"),
    ),
    Figure(
        *_setting("training.value_loss_weight"),
        Side(0.05, "the value is hardly learned", "raise it; 1 is usual"),
        Side(20, "the policy is hardly learned", "lower it; 1 is usual"),
    ),
    Figure(
        *_setting("training.value_lambda"),
        Side(0.2, "values learn too little from results", "raise it; 0.9 is usual"),
    ),
    Figure(
        *_setting("training.samples_per_position"),
        Side(0.5, "too little training for the games", "raise it; 4 to 8 is usual"),
        Side(25, "too much training for the games", "lower it; 4 to 8 is usual"),
    ),
    Figure(
        "the number of iterations that replay.window has room for",
        _window,
        Side(1.5, "the window is too short", "raise replay.window to several iterations"),
    ),
    Figure(
        "the number of iterations in the replay window",
        _iterations_in_window,
        None,
        Side(40, "the window is too long", "lower replay.window"),
    ),
    Figure(
        *_setting("selfplay.games_per_iteration"),
        Side(16, "an iteration has too few games", "raise it"),
    ),
    Figure(
        *_setting("selfplay.full_search_share"),
        Side(0.1, "too few positions are learned from", "raise it; 0.25 to 1 is usual"),
    ),
    Figure(
        *_setting("selfplay.num_simulations", _has_noise),
        Side(8, "searches are too small", "raise it; 40 to 64 is usual"),
    ),
    Figure(
        "simulations for each legal move",
        lambda case: _ratio(case.setting("selfplay.num_simulations"), case.moves or 0.0) if _has_noise(case) else [],
        Side(0.15, "searches are too small", "raise selfplay.num_simulations, or set selfplay.root to gumbel"),
    ),
    Figure(
        *_setting("search.c_puct", lambda case: case.config.search.selection == "puct"),
        Side(0.2, "searches hardly explore", "raise it; 1.25 is usual"),
        Side(10, "searches follow the net's policy alone", "lower it; 1.25 is usual"),
    ),
    Figure(
        *_setting("search.c_uct", lambda case: case.config.search.selection == "uct"),
        Side(0.1, "searches hardly explore", "raise it; 1 is usual"),
        Side(10, "searches follow no values", "lower it; 1 is usual"),
    ),
    Figure(
        *_setting("search.fpu_reduction", lambda case: case.config.search.fpu == "reduced"),
        None,
        Side(1, "searches hardly explore", "lower it; 0.2 is usual"),
    ),
    Figure(
        *_setting("search.fpu_value", lambda case: case.config.search.fpu == "absolute"),
        None,
        Side(0.8, "searches try every move first", "lower it, or set search.fpu to reduced"),
    ),
    Figure(
        *_setting("search.rollout_weight"),
        None,
        Side(0.8, "searches ignore the net's value", "lower it; 0 is usual"),
    ),
    Figure(
        *_setting("search.cache_mib"),
        Side(1, "positions are evaluated again and again", "raise it; 64 is usual"),
    ),
    Figure(
        *_setting("selfplay.gumbel_considered", _has_gumbel),
        Side(3, "searches hardly explore", "raise it; 16 is usual"),
    ),
    Figure(
        *_setting("selfplay.gumbel_scale", _has_gumbel),
        Side(0.02, "the policy learns too little from values", "raise it; 1 is usual"),
        Side(20, "the policy learns from values alone", "lower it; 1 is usual"),
    ),
    Figure(
        *_setting("selfplay.dirichlet_epsilon", _has_noise),
        Side(0.02, "there is no noise at the root", "raise it; 0.25 is usual"),
        Side(0.7, "there is too much noise at the root", "lower it; 0.25 is usual"),
    ),
    Figure(
        "selfplay.dirichlet_alpha times legal moves",
        lambda case: [case.setting("selfplay.dirichlet_alpha") * case.moves] if case.moves and _has_noise(case) else [],
        Side(
            0.5, "the noise at the root falls on one move", "raise selfplay.dirichlet_alpha; 10 / legal moves is usual"
        ),
        Side(
            200,
            "the noise at the root is the same for all moves",
            "lower selfplay.dirichlet_alpha; 10 / legal moves is usual",
        ),
    ),
    Figure(
        "the number of sampled moves in a game",
        _sampled_plies,
        Side(2, "opening moves are not sampled", "raise selfplay.temperature_plies and selfplay.temperature"),
    ),
    Figure(
        *_setting("selfplay.temperature", lambda case: case.config.selfplay.temperature_plies > 0),
        None,
        Side(3, "games are played at random", "lower it; 1 is usual"),
    ),
    Figure(
        *_setting("selfplay.final_temperature"),
        None,
        Side(3, "games are played at random", "lower it; 0 to 0.2 is usual"),
    ),
    Figure(
        "the share of moves that random openings make",
        _random_moves,
        None,
        Side(0.5, "openings are too long", "lower selfplay.random_opening_plies"),
    ),
    Figure(
        *_setting("gate.win_rate_threshold"),
        None,
        Side(0.65, "the gate is too strict", "lower it; 0.5 to 0.55 is usual"),
    ),
    Figure(
        *_setting("gate.games", _has_gate),
        Side(8, "the gate is decided by chance", "raise it; 40 is usual"),
    ),
    Figure(
        *_setting("gate.num_simulations", _has_gate),
        Side(4, "the gate's searches are too small", "raise it; what selfplay.num_simulations has is usual"),
    ),
    Figure(
        *_setting("gate.opening_plies", _has_gate),
        Side(1, "the gate's games are alike", "raise it; 4 is usual"),
    ),
    Figure(
        "net.blocks times net.channels",
        lambda case: (
            [case.setting("net.blocks") * case.setting("net.channels")] if ".py:" not in case.config.net.name else []
        ),
        Side(8, "the net is too small", "raise net.channels and net.blocks; 4 x 48 to 5 x 64 is usual"),
    ),
    Figure(
        "weights in the net's blocks for each position of the run",
        _weights_by_positions,
        None,
        Side(25, "the net is too large for so few games", "lower net.channels and net.blocks, or train for longer"),
    ),
    Figure(
        "games that a worker plays at the same time",
        lambda case: [min(case.setting(f"selfplay.{each}") for each in ("parallel_games", "games_per_shard"))],
        Side(8, "the net's batches are almost empty", "raise selfplay.parallel_games and selfplay.games_per_shard"),
    ),
)
"""What the settings say, with the games so far."""

OF_METRICS: tuple[Figure, ...] = (
    Figure(
        "train/policy_loss over the first net's",
        _loss_to_first("policy_loss"),
        None,
        Side(1.5, "the learning rate is too high", "lower training.muon_learning_rate and training.learning_rate"),
    ),
    Figure(
        "train/value_loss over the first net's",
        _loss_to_first("value_loss"),
        None,
        Side(1.5, "the learning rate is too high", "lower training.muon_learning_rate and training.learning_rate"),
    ),
    Figure(
        "the share of the first policy loss, above the search's entropy, that is left",
        _unlearned,
        None,
        Side(0.98, "the net learns nothing", "look at the learning rates, training.warmup_steps and the planes"),
    ),
    Figure(
        *_metric("train/steps"),
        Side(4, "an iteration has too few steps", "lower training.batch_size, or raise selfplay.games_per_iteration"),
    ),
    Figure(
        *_metric("selfplay/distinct_games", _is_open),
        Side(0.1, "games are alike", "raise selfplay.temperature_plies, or selfplay.random_opening_share"),
    ),
    Figure(
        "the share of games that end alike",
        _ends_alike,
        None,
        Side(
            0.99,
            "all games end alike",
            "unless that is the game's true result, raise selfplay.temperature_plies or selfplay.random_opening_share",
        ),
    ),
    Figure(
        *_metric("selfplay/draws", _is_early),
        None,
        Side(0.95, "draws leave nothing to learn", "look at the rules, and raise selfplay.random_opening_share"),
    ),
    Figure(
        *_metric("train/target_entropy", lambda case: _is_early(case) and _is_open(case)),
        Side(
            CERTAIN,
            "searches hardly explore",
            "raise search.c_puct, selfplay.num_simulations or the noise at the root",
        ),
    ),
    Figure(
        "the policy's entropy over the search's",
        _pairs(
            lambda own, target: own / target if target > CERTAIN else 1.0,
            "train/policy_entropy",
            "train/target_entropy",
        ),
        Side(0.5, "the net's policy collapses", "lower the learning rates, or training.samples_per_position"),
    ),
    Figure(
        "fresh/policy_loss now over before, while train/policy_loss falls",
        _rise("policy_loss"),
        None,
        Side(1.2, "the net overfits", "lower training.samples_per_position, or raise replay.window"),
    ),
    Figure(
        "fresh/value_loss now over before, while train/value_loss falls",
        _rise("value_loss"),
        None,
        Side(1.2, "the net overfits", "lower training.samples_per_position, or raise replay.window"),
    ),
    Figure(
        "fresh/value_loss over that of a uniform guess",
        _pairs(lambda loss: loss / UNIFORM, "fresh/value_loss"),
        None,
        Side(
            1.5,
            "values are worse than a guess",
            "look at the rules' outcome and planes; lower the learning rates or training.samples_per_position",
        ),
    ),
    Figure(
        *_metric("fresh/calibration_error"),
        None,
        Side(
            0.3,
            "values are far from results",
            "raise selfplay.games_per_iteration, or lower training.samples_per_position",
        ),
    ),
    Figure(
        *_metric("gate/score"),
        Side(0.3, "candidates are worse than the best net", "lower the learning rates, or raise replay.window"),
    ),
    Figure(
        "iterations since the last promotion",
        _since_promotion,
        None,
        Side(
            STALLED - 1,
            "no candidate is promoted",
            "unless the net plays perfectly, raise gate.games or selfplay.num_simulations, or lower the learning rates",
        ),
    ),
    Figure(
        "selfplay/full_trees for each position",
        _pairs(
            lambda full, positions: full / positions if positions > 0 else 0.0,
            "selfplay/full_trees",
            "selfplay/positions",
        ),
        None,
        Side(0.01, "search trees are full", "lower selfplay.num_simulations, or choose other rules"),
    ),
    Figure(
        *_metric("selfplay/worker_deaths"),
        None,
        Side(0, "workers die", "look at the memory; lower selfplay.num_workers or search.cache_mib"),
    ),
)
"""What the last iterations have shown."""

FIGURES = OF_SETTINGS + OF_METRICS
