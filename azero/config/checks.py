"""Checks of settings against each other: contradictions are errors, settings without effect are notices."""

from azero.config.schema import Config, TrainingConfig
from azero.errors import BadInput
from azero.heads import HEADS


def check_together(config: Config) -> None:
    """Raises BadInput with the first contradiction between settings that are each valid."""
    if config.net.global_context == "pool" and config.net.channels < 2:
        raise BadInput(f"net.channels = {config.net.channels} should be 2 or more if net.global_context = pool")
    play = config.selfplay
    if play.full_search_share < 1 and play.fast_simulations >= play.num_simulations:
        raise BadInput(
            f"selfplay.fast_simulations = {play.fast_simulations} should be less than selfplay.num_simulations = "
            f"{play.num_simulations} if selfplay.full_search_share is less than 1"
        )
    if config.training.convolution == "winograd" and config.training.precision == "bf16":
        raise BadInput("training.precision = bf16 should be fp32 or auto with training.convolution = winograd")
    if config.game.sizes:
        _check_with_sizes(config)
    for head in config.net.heads:
        if config.training.loss_weight(head) == 0:
            raise BadInput(
                f"training.{head}_loss_weight = 0 should be greater than 0, since net.heads has {head!r}: the head "
                "would learn nothing"
            )


def _check_with_sizes(config: Config) -> None:
    """Raises BadInput with the first setting that a run of several sizes cannot have."""
    training, gate, evaluation = config.training, config.gate, config.evaluation
    wanted: dict[str, tuple[object, object]] = {
        "net.name": (config.net.name, "any_size"),
        "net.heads": ([*config.net.heads], []),
        "selfplay.starts": (config.selfplay.starts, "none"),
        "training.lessons": (training.lessons, "none"),
    }
    wanted |= {f"training.{name}_loss_weight": (training.loss_weight(name), 0) for name in HEADS}
    for name, (value, only) in wanted.items():
        if value != only:
            raise BadInput(f"{name} = {value} cannot be used with game.sizes; it should be {only}")
    num_sizes = len(config.game.sizes)
    fewest = {
        "selfplay.games_per_iteration": (config.selfplay.games_per_iteration, num_sizes),
        "gate.games": (gate.games, 2 * num_sizes),
        "gate.final_games": (gate.final_games or 2 * num_sizes, 2 * num_sizes),
        "evaluation.games": (evaluation.games if evaluation.every else 2 * num_sizes, 2 * num_sizes),
    }
    for name, (num_games, least) in fewest.items():
        if num_games < least:
            raise BadInput(f"{name} = {num_games} should be {least} or more for {num_sizes} sizes of the game")


def find_oddities(config: Config, max_plies: int) -> list[str]:
    """Returns a notice, one line each, for settings that are valid but surprising.

    Args:
      max_plies: length of the longest game.
    """
    play, training = config.selfplay, config.training
    oddities = []
    search = config.search
    if not search.prove:
        positions = {"proof_nodes": search.proof_nodes, "solve_nodes": search.solve_nodes}
        oddities += [
            f"search.{name} = {num} has no effect with search.prove = false" for name, num in positions.items() if num
        ]
    elif search.proof_nodes > 0 and not search.look_ahead:
        oddities.append(f"search.proof_nodes = {search.proof_nodes} looks ahead, although search.look_ahead = false")
    if play.ending_nodes > 0 and training.value_lambda == 1:
        oddities.append(
            f"selfplay.ending_nodes = {play.ending_nodes} has no effect on training with training.value_lambda = 1"
        )
    if play.random_opening_share > 0 and play.random_opening_plies >= max_plies:
        oddities.append(
            f"selfplay.random_opening_plies = {play.random_opening_plies} is as long as a whole game, at most "
            f"{max_plies} plies; openings stop before the game ends"
        )
    if training.schedule != "constant" and training.final_learning_rate > training.learning_rate:
        oddities.append(
            f"training.final_learning_rate = {training.final_learning_rate:g} is above training.learning_rate = "
            f"{training.learning_rate:g}, so the learning rate stays constant"
        )
    if training.lessons != "none":
        if round(training.lessons_share * training.batch_size) == 0:
            oddities.append(
                f"training.lessons_share = {training.lessons_share:g} of training.batch_size = {training.batch_size} "
                "rounds to 0 positions, so no lessons are learned"
            )
        if config.evaluation.every and config.evaluation.benchmark == training.lessons:
            oddities.append(
                "evaluation.benchmark and training.lessons are the same positions: the benchmark measures memorization"
            )
    default = TrainingConfig.model_fields["muon_learning_rate"].default
    if training.optimizer != "muon" and training.muon_learning_rate != default:
        oddities.append(
            f"training.muon_learning_rate = {training.muon_learning_rate:g} has no effect with training.optimizer = "
            f"{training.optimizer}"
        )
    matches = {"gate.games": config.gate.games, "gate.final_games": config.gate.final_games}
    if config.evaluation.every:
        matches["evaluation.games"] = config.evaluation.games
    return oddities + [describe_odd_games(name, games) for name, games in matches.items() if games % 2]


def describe_odd_games(name: str, num_games: int) -> str:
    """Returns the notice for an odd number of games. `name` is that of the setting or option."""
    return f"{name} = {num_games} is odd: the last opening is played once, not twice with colours swapped"


def describe_warmup(config: TrainingConfig, steps_per_iteration: int) -> list[str]:
    """Returns a notice if the warmup is longer than the run; otherwise an empty list."""
    steps = steps_per_iteration * config.iterations
    if config.warmup_steps <= steps:
        return []
    return [
        f"training.warmup_steps = {config.warmup_steps} is longer than the run, about {steps} steps; the learning rate "
        f"does not reach training.learning_rate = {config.learning_rate:g}"
    ]
