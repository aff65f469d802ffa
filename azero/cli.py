"""The commands: each parses, calls and prints. Results go to stdout, progress to stderr; bad input exits with 2."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from azero import lab_commands
from azero.errors import BadInput, BrokenRules

app = typer.Typer(
    name="azero",
    help="AlphaZero for any two-player board game.\n\nTrain an agent by self-play, evaluate it, ask it for a move.",
    epilog="First steps:  azero suggest connect_four --moves 4453",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(lab_commands.app, name="lab")


@app.callback()
def prepare() -> None:
    """Looks, before any command, whether what is compiled can be kept."""
    from azero.jit import IS_COMPILED, cache_directory

    if IS_COMPILED:
        cache_directory()


AGENT_HELP = (
    "A checkpoint's path, a run's folder or a shipped name, uct (with options, e.g. 'uct(c=2,table=64MiB)'), mc, mmmc, "
    "alphabeta, random or gtp:COMMAND; @800 or @2s limits it."
)
GameOption = Annotated[
    str | None, typer.Option("--game", help="The game, where no checkpoint tells it; see `azero games`.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of every random choice.")]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Threads; all cores unless given.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DeviceOption = Annotated[str, typer.Option("--device", help="Where nets run: auto, cpu, cuda or mps.")]
PrecisionOption = Annotated[str, typer.Option("--precision", help="Arithmetic of nets: auto, fp32 or bf16.")]
NodesOption = Annotated[
    int | None, typer.Option("--max-nodes", help="Limit on a search tree, at which it grows no more.")
]


@app.command(epilog="Example:  azero train connect_four_quick --run runs/c4 --set training.iterations=10")
def train(
    config: Annotated[str | None, typer.Argument(help="A TOML file, or the name of one in configs/.")] = None,
    run: Annotated[Path | None, typer.Option("--run", help="The run's folder; runs/CONFIG unless given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run, with its own settings.")] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Another value of a setting: section.key=value.")
    ] = None,
) -> None:
    """Train an agent by self-play.

    Each iteration plays games with the best net, trains a candidate on them, and promotes it if it beats the best.
    A run that was killed or interrupted goes on with --resume, and ends as if it had never stopped.
    """
    from azero.config import find_config, load_config
    from azero.training.loop import train as run_training
    from azero.training.run import open_run

    if config is None and not (resume and run):
        raise BadInput("train needs a CONFIG, e.g. azero train connect_four_quick; or --resume with --run FOLDER")
    path = find_config(config) if config else None
    folder = run or Path("runs") / path.stem  # type: ignore[union-attr]
    values = open_run(folder, settings or []) if resume else load_config(path, settings or [])  # type: ignore[arg-type]
    if resume and path is not None and load_config(path, settings or []) != values:
        print(f"azero: {folder} goes on with its own settings, which differ from {path}", file=sys.stderr)
    try:
        progress = run_training(folder, values, resume)
    except KeyboardInterrupt:
        print(f"\nazero: stopped; go on with: azero train --run {folder} --resume", file=sys.stderr)
        raise typer.Exit(130) from None
    print(
        f"\n{folder}/best.safetensors: {progress.promotions} promotions, {progress.rating:+.0f} Elo above the first net"
    )


@app.command(name="train-rollout", epilog="Example:  azero train-rollout runs/connect_four_quick")
def train_rollout(
    run: Annotated[list[Path], typer.Argument(metavar="RUN", help="A run's folder, or shards from one's replay/.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The policy's file; RUN/rollout.safetensors if not given."),
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", help="How often to go over the positions.")] = 10,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a fast rollout policy from a run's self-play.

    A softmax, linear in the 3x3 cells around a move and the move itself, learns the search's visits. A tenth of the
    games is held out, and tells how well it does beside uniform play.
    """
    from dataclasses import asdict

    from azero.training.rollout import train_rollout as train_policy

    if not 1 <= epochs <= 1000:
        raise BadInput(f"--epochs {epochs} should be from 1 to 1000")
    if out is None and not (len(run) == 1 and run[0].is_dir()) and all(path.exists() for path in run):
        raise BadInput(
            "shards have no folder to put the policy in: name a file with --out, e.g. --out rollout.safetensors"
        )
    path = out or run[0] / "rollout.safetensors"
    if path.suffix != ".safetensors":
        raise BadInput(f"--out {str(path)!r} should end in .safetensors")
    card, figures = train_policy(run, path, epochs, seed)
    if as_json:
        print(json.dumps({"file": str(path), **asdict(card)}))
        return
    print(f"{path}: {card.game}, {card.positions:,} positions, {card.games:,} games less a tenth held out")
    print(f"{'held out':<22}{'policy':>8}{'uniform':>9}{'search':>8}")
    cross_entropies = (
        f"{figures.cross_entropy:>8.3f}{figures.uniform_cross_entropy:>9.3f}{figures.search_entropy:>8.3f}"
    )
    print(f"{'cross-entropy, nats':<22}{cross_entropies}")
    print(f"{'top-1 accuracy':<22}{figures.top_1:>8.1%}{figures.uniform_top_1:>9.1%}")


@app.command(epilog="Example:  azero evaluate connect_four@200 --against uct@1000 --games 100")
def evaluate(
    a: Annotated[str, typer.Argument(metavar="A", help=AGENT_HELP)],
    against: Annotated[str, typer.Option("--against", metavar="B", help="The other agent.")],
    game: GameOption = None,
    games: Annotated[int, typer.Option("--games", help="Games to play, in pairs with colours swapped.")] = 100,
    opening_plies: Annotated[
        int, typer.Option("--opening-plies", help="Random plies before a pair, or one fewer.")
    ] = 4,
    sprt: Annotated[str | None, typer.Option("--sprt", metavar="ELO0,ELO1", help="Stop when an SPRT decides.")] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    max_nodes: NodesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match between two agents.

    Prints A's score and Elo difference with their 95 % intervals, and what each side spent.
    """
    from tqdm import tqdm

    from azero.arena.match import play_match
    from azero.arena.statistics import Sprt
    from azero.engine.show import show_match

    test = Sprt(*_two_numbers("--sprt", sprt)) if sprt else None
    one, other = _two_agents(a, against, game, seed, threads, device, precision, max_nodes)
    with tqdm(total=games, unit=" games", desc=f"{a} - {against}", leave=False, file=sys.stderr, delay=0.5) as bar:

        def show(num: int, tally: Any) -> None:
            bar.set_postfix_str(f"+{tally.wins} ={tally.draws} -{tally.losses}", refresh=False)
            bar.update(num)

        try:
            result = play_match(one, other, one.game, games, seed, opening_plies, test, show)
        finally:
            one.close()
            other.close()
    print(json.dumps(result.to_json()) if as_json else show_match(result, test))


@app.command(epilog="Example:  azero suggest connect_four --moves 4453 --simulations 800")
def suggest(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: GameOption = None,
    moves: Annotated[str, typer.Option("--moves", help="Moves from the start, in the game's notation.")] = "",
    simulations: Annotated[int | None, typer.Option("--simulations", help="Simulations to search.")] = None,
    seconds: Annotated[float | None, typer.Option("--time", metavar="S", help="Seconds to search.")] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    max_nodes: NodesOption = None,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", help="Moves to list; 10 unless given, or in JSON all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask an agent for a move.

    Prints the moves of the position, best first, with visits, value, prior, proven result and principal variation.
    """
    from azero.engine.show import MOST_MOVES, show_suggestion

    if top is not None and top < 1:
        raise BadInput(f"--top {top} should be 1 or more")
    chosen = _agent(agent, game, seed, threads, device, precision, max_nodes)
    try:
        state = chosen.game.state_from_moves(moves)
        suggestion = chosen.suggest(state, simulations, seconds)
    finally:
        chosen.close()
    print(json.dumps(suggestion.to_json(top)) if as_json else show_suggestion(suggestion, state, top or MOST_MOVES))
    if suggestion.is_tree_full and as_json:
        print("azero: the tree reached its limit of nodes and grew no more", file=sys.stderr)


@app.command(epilog="Example:  azero play connect_four@400 --second")
def play(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: GameOption = None,
    second: Annotated[bool, typer.Option("--second", help="Let the agent move first.")] = False,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
) -> None:
    """Play against an agent in the terminal."""
    from azero.engine.play import play_in_terminal

    opponent = _agent(agent, game, seed, threads, device, precision, None)
    try:
        play_in_terminal(opponent, opponent.game, int(second), input, print)
    finally:
        opponent.close()


@app.command(epilog="Example:  azero games")
def games(as_json: JsonOption = False) -> None:
    """List the games, with their parameters."""
    from azero.games import parameters_of, registered_games
    from azero.games.registry import write_value

    found = registered_games()
    if as_json:
        print(json.dumps({name: parameters_of(rules) for name, rules in found.items()}))
        return
    for name, rules in found.items():
        listed = ",".join(f"{key}={write_value(value)}" for key, value in parameters_of(rules).items())
        print(f"{name}({listed})" if listed else name)
        print(f"    {(rules.__doc__ or '').strip().splitlines()[0]}")


@app.command(name="check-game", epilog="Example:  azero check-game my_game.py:MyGame --against slow.py:SlowGame")
def check_game(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game's name, or FILE.py:NAME for one of your own.")],
    against: Annotated[
        str | None, typer.Option("--against", metavar="FILE.py:NAME", help="A slow prototype of the same game.")
    ] = None,
    positions: Annotated[int, typer.Option("--positions", help="Random positions; fewer of a big, slow game.")] = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Hold a game to the laws that every game keeps.

    Random games are played in plain Python and compiled; a law that is broken is told with the moves that lead there.
    """
    from azero.check_game import check_game as check

    if not 1 <= positions <= 1_000_000:
        raise BadInput(f"--positions {positions} should be from 1 to 1,000,000")
    report = check(game, against, positions, seed, (lambda line: None) if as_json else print)
    if as_json:
        print(json.dumps(report.to_json()))
    if report.broken:
        raise BadInput(f"{game} breaks {len(report.broken)} of the laws: {', '.join(report.broken)}")


@app.command(epilog="Example:  azero bench --game connect_four")
def bench(
    game: Annotated[str, typer.Option("--game", help="The game to measure with.")] = "connect_four",
    config: Annotated[
        str, typer.Option("--config", help="The settings whose net and self-play are measured.")
    ] = "connect_four",
    seconds: Annotated[float, typer.Option("--time", metavar="S", help="Seconds each measurement takes.")] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Measure this machine.

    Random games, UCT, the net alone, self-play with it, and training.
    """
    from azero.bench import measure_all, show_table

    if not 0.1 <= seconds <= 600:
        raise BadInput(f"--time {seconds} should be from 0.1 to 600 seconds")
    rows = measure_all(game, config, seconds)
    print(json.dumps(rows) if as_json else show_table(rows))


@app.command(hidden=True)
def version() -> None:
    """Print the version."""
    import azero

    print(azero.__version__)


def _agent(name, game, seed, threads, device, precision, max_nodes):
    from azero.arena.names import make_agent
    from azero.config import check_device
    from azero.machine import count_cores

    cores = count_cores() if threads is None else threads
    where = check_device(device, precision)
    if where.device not in ("auto", "cpu"):  # told even where no net would notice
        from azero.nets.evaluator import pick_device

        pick_device(where.device)
    return make_agent(name, game, seed, cores, where, max_nodes)


def _two_agents(a, b, game, seed, threads, device, precision, max_nodes):
    """Returns both agents; where one is a checkpoint, it tells the game for the other."""
    from azero.arena.names import game_of

    if game is None:
        told = game_of(a) or game_of(b)
        game = str(told) if told else None
    options = (threads, device, precision, max_nodes)
    return _agent(a, game, seed, *options), _agent(b, game, seed + 1, *options)


def _two_numbers(option: str, text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{option} {text!r} should be two numbers, e.g. 0,50") from None
    return first, second


def main() -> None:
    """Runs the command line; bad input, broken rules and a full disk become a line on stderr and exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0)
    except BrokenRules as error:
        _fail(f"{error}; azero check-game finds what is wrong with rules")
    except BadInput as error:
        _fail(str(error))
    except typer.TyperException as error:
        _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that cannot be written
        what = f": {error.filename}" if error.filename else ""
        _fail(f"{error.strerror or error}{what}; what was saved before stays")


def _fail(message: str) -> None:
    print(f"azero: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
