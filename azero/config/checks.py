"""Settings checked against one another: what cannot be together is refused, what has no effect is told in a line."""

from azero.config.schema import Config
from azero.config.training import TrainingConfig
from azero.errors import BadInput


def check_together(config: Config) -> None:
    """Raises BadInput with the first settings, each right by itself, that cannot be together."""
    if config.gate.elo1 <= config.gate.elo0:
        raise BadInput(f"gate.elo1 = {config.gate.elo1} should be greater than gate.elo0 = {config.gate.elo0}")
    if config.net.global_context == "pool" and config.net.channels < 2:
        raise BadInput(f"net.channels = {config.net.channels} should be 2 or more where net.global_context is 'pool'")
    play = config.selfplay
    if play.full_search_share < 1 and play.fast_simulations >= play.num_simulations:
        raise BadInput(
            f"selfplay.fast_simulations = {play.fast_simulations} should be less than selfplay.num_simulations = "
            f"{play.num_simulations} where selfplay.full_search_share is less than 1"
        )
    if config.training.learn_proven and not config.search.prove:
        raise BadInput("training.learn_proven takes search.prove: a search that does not prove has no proven results")


def find_oddities(config: Config, max_plies: int) -> list[str]:
    """Returns what is odd, a line each. `max_plies` is the length of the longest game."""
    play, training = config.selfplay, config.training
    oddities = []
    if play.forced_playouts > 0 and (play.root != "noise" or config.search.selection != "puct"):
        other = f"selfplay.root = {play.root}" if play.root != "noise" else "search.selection = uct"
        oddities.append(f"selfplay.forced_playouts = {play.forced_playouts:g} has no effect with {other}")
    search = config.search
    if not search.prove:
        positions = {"proof_nodes": search.proof_nodes, "solve_nodes": search.solve_nodes}
        oddities += [
            f"search.{name} = {num} has no effect with search.prove = false" for name, num in positions.items() if num
        ]
    elif search.proof_nodes > 0 and not search.look_ahead:
        oddities.append(f"search.proof_nodes = {search.proof_nodes} looks ahead, whatever search.look_ahead says")
    if play.random_opening_share > 0 and play.random_opening_plies >= max_plies:
        oddities.append(
            f"selfplay.random_opening_plies = {play.random_opening_plies} is as long as a whole game, {max_plies} "
            "plies at the most; openings stop before the game ends"
        )
    if training.schedule != "constant" and training.final_learning_rate > training.learning_rate:
        oddities.append(
            f"training.final_learning_rate = {training.final_learning_rate:g} is above training.learning_rate = "
            f"{training.learning_rate:g}, which stays as it is"
        )
    if training.lessons != "none":
        if round(training.lessons_share * training.batch_size) == 0:
            oddities.append(
                f"training.lessons_share = {training.lessons_share:g} of training.batch_size = {training.batch_size} "
                "rounds to none, and no lessons are learnt"
            )
        if config.evaluation.every and config.evaluation.benchmark == training.lessons:
            oddities.append(
                "evaluation.benchmark has what training.lessons teaches: its figures tell what was learnt by heart"
            )
    is_default = training.muon_learning_rate == TrainingConfig.model_fields["muon_learning_rate"].default
    if training.optimizer != "muon" and not is_default:
        oddities.append(
            f"training.muon_learning_rate = {training.muon_learning_rate:g} has no effect with training.optimizer = "
            f"{training.optimizer}"
        )
    matches = {"gate.games": config.gate.games, "gate.final_games": config.gate.final_games}
    if config.evaluation.every:
        matches["evaluation.games"] = config.evaluation.games
    return oddities + [describe_odd_games(name, games) for name, games in matches.items() if games % 2]


def describe_odd_games(name: str, num_games: int) -> str:
    """Returns what it means that the games of a match, a setting or an option of that name, are odd."""
    return f"{name} = {num_games} is odd: the last opening is played once, not twice with colours swapped"


def describe_warmup(config: TrainingConfig, steps_per_iteration: int) -> list[str]:
    """Returns that the warmup is longer than the run, in a line; none where it is not."""
    steps = steps_per_iteration * config.iterations
    if config.warmup_steps <= steps:
        return []
    return [
        f"training.warmup_steps = {config.warmup_steps} is longer than the run, about {steps} steps; the learning rate "
        f"does not come to training.learning_rate = {config.learning_rate:g}"
    ]
