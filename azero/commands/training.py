"""The commands that train: `azero train` and `azero train-rollout`."""

import contextlib
import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from azero.commands.options import ClusterOption, JsonOption, SeedOption, as_new_file, as_path, pools
from azero.errors import BadInput, Stopped
from azero.system.console import printable, say

app = typer.Typer()

FirstNetOption = Annotated[
    str | None,
    typer.Option("--from", metavar="CHECKPOINT", help="Begin with the weights of a checkpoint, or a run's best."),
]
FirstGamesOption = Annotated[
    str | None, typer.Option("--games-of", metavar="RUN", help="Learn from the games of a run first.")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting: section.key=value. Can be repeated, and works with --resume."),
]
MinutesOption = Annotated[
    float | None,
    typer.Option("--minutes", metavar="M", help="Set iterations, games, samples and more for M minutes in all."),
]
AllowOption = Annotated[
    bool,
    typer.Option("--allow-commands", help="Run the program that a config or the run names, gtp:, uci: or gomocup:."),
]
ConfigArgument = Annotated[str | None, typer.Argument(help="A TOML file, or the name of one in configs/.")]


@app.command(epilog="Example:  azero train connect_four_quick --run runs/c4 --set training.iterations=10")
def train(
    config: ConfigArgument = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", parser=as_path, metavar="DIR", help="The run's folder; runs/CONFIG by default."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run with its own settings and those of --set.")
    ] = False,
    settings: SettingsOption = None,
    first_net: FirstNetOption = None,
    first_games: FirstGamesOption = None,
    minutes: MinutesOption = None,
    cluster: ClusterOption = None,
    allow_commands: AllowOption = False,
) -> None:
    """Train an agent by self-play.

    Each iteration plays games with the best net, trains a candidate on them, and promotes the candidate if it beats
    the best net. --resume continues a run that was interrupted or killed. The result is the same as without a break.
    """
    from azero.config.reading import find_config

    if config is None and not (resume and run):
        raise BadInput("train needs a CONFIG, e.g. azero train connect_four_quick, or --resume with --run FOLDER")
    beginning = {"--from": first_net, "--games-of": first_games, "--minutes": minutes}
    if minutes is not None and cluster not in (None, "local"):
        raise BadInput("--minutes measures the workers of this machine; with --cluster set training.iterations")
    _check_options(settings or [], resume, [name for name, value in beginning.items() if value is not None])
    settings = [*(settings or []), *_settings_of(first_net, first_games)]
    path = None if config is None else find_config(config)
    folder = run or Path("runs") / path.stem  # type: ignore[union-attr]
    if path is not None:
        _trust_code_of(path, settings, resume)
    from azero.runs.folder import BEST
    from azero.training.final import describe_final
    from azero.training.train import train as run_training

    try:
        with pools(cluster) as make_pool:
            done = run_training(
                path,
                folder,
                settings=settings,
                resume=resume,
                allow_commands=allow_commands,
                minutes=minutes,
                make_pool=make_pool,
            )
    except KeyboardInterrupt:
        raise Stopped(f"stopped{_how_to_go_on(folder, cluster)}") from None
    rating = f"{done.rating:+z.0f} Elo above the first net"
    promotions = f"{done.promotions} promotion{'' if done.promotions == 1 else 's'}"
    print(f"\n{folder}/{BEST}: {promotions}, {rating}{describe_final(done.final)}")


def _trust_code_of(path: Path, settings: list[str], is_resuming: bool) -> None:
    """Trusts the files of game and net that a config names, since the user has named the config."""
    from azero.config.reading import load_config
    from azero.games.user.trust import trust_config

    if not is_resuming:
        trust_config(load_config(path, settings), is_kept=True)
        return
    with contextlib.suppress(BadInput):  # its game's file may have been moved with the run
        trust_config(load_config(path), is_kept=True)


def _check_options(settings: list[str], is_resuming: bool, of_beginning: list[str]) -> None:
    """Raises BadInput if options exclude each other; says which settings are given twice.

    Args:
      of_beginning: the given options that are for new runs only.
    """
    if is_resuming and of_beginning:
        raise BadInput(f"{of_beginning[0]} is for a new run, and --resume continues one; leave one of the two out")
    keys = Counter(each.partition("=")[0].strip() for each in settings)
    if "--minutes" in of_beginning and {"training", "training.iterations"} & {*keys}:
        raise BadInput("--minutes sets training.iterations; leave one of the two out")
    for key in (key for key, times in keys.items() if times > 1):
        say(f"--set {key} is given more than once; the last value counts")


def _settings_of(first_net: str | None, first_games: str | None) -> list[str]:
    """Returns the settings that --from and --games-of stand for, in the form of --set."""
    named = {"training.first_net": first_net, "replay.first_games": first_games}
    return [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in named.items() if value is not None]


def _how_to_go_on(folder: Path, cluster: str | None) -> str:
    """Returns how to go on after Ctrl-C, to append to the message."""
    from azero.arena.agents.names import split_program
    from azero.runs.settings import read_settings

    try:
        config = read_settings(folder)
    except BadInput:  # the run had not begun
        return " before the run began"
    has_program = config.evaluation.every and split_program(config.evaluation.opponent)
    options = (f" --cluster {cluster}" if cluster else "") + (" --allow-commands" if has_program else "")
    return f"; go on with: azero train --run {shlex.quote(printable(str(folder)))} --resume{options}"


@app.command(name="train-rollout", epilog="Example:  azero train-rollout runs/connect_four_quick")
def train_rollout(
    run: Annotated[
        list[Path],
        typer.Argument(parser=as_path, metavar="RUN", help="A run's folder, or shards from its replay folder."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=as_new_file, metavar="FILE", help="The policy's file; RUN/rollout.safetensors by default."
        ),
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes over the positions.")] = 10,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a fast rollout policy on a run's self-play.

    The policy is a softmax of linear features: the move, and the 3x3 cells around it. It learns the search's visits.
    A tenth of the games is held out, to compare the policy with uniform play.
    """
    from dataclasses import asdict

    from azero.runs.folder import ROLLOUT
    from azero.training.rollout_policy import train_rollout as train_policy

    if not 1 <= epochs <= 1000:
        raise BadInput(f"--epochs {epochs} should be from 1 to 1000")
    if out is None and not (len(run) == 1 and run[0].is_dir()) and all(path.exists() for path in run):
        raise BadInput("shards have no folder for the policy: name a file with --out, e.g. --out rollout.safetensors")
    path = out or run[0] / ROLLOUT
    if path.suffix != ".safetensors":
        raise BadInput(f"--out {str(path)!r} should end in .safetensors")
    card, figures = train_policy(run, path, epochs, seed)
    if as_json:
        print(json.dumps({"file": str(path), **asdict(card)}))
        return
    print(f"{path}: {card.game}, {card.positions:,} positions, {card.games:,} games, a tenth of them held out")
    print(f"{'held out':<22}{'policy':>8}{'uniform':>9}{'search':>8}")
    cross_entropies = (
        f"{figures.cross_entropy:>8.3f}{figures.uniform_cross_entropy:>9.3f}{figures.search_entropy:>8.3f}"
    )
    print(f"{'cross-entropy, nats':<22}{cross_entropies}")
    print(f"{'top-1 accuracy':<22}{figures.top_1:>8.1%}{figures.uniform_top_1:>9.1%}")


@app.command(name="check-run", epilog="Example:  azero check-run runs/connect_four_quick")
def check_run(
    run: Annotated[Path, typer.Argument(parser=as_path, metavar="RUN", help="A run's folder.")],
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that a run's files are whole.

    Reads all files back, and replays all games. Prints what is damaged, and what that costs. The exit code is 0 if the
    run is whole, or mended, and 1 if it is damaged.
    """
    from azero.runs.folder import hold_to_read
    from azero.training.checking import check_run as check
    from azero.training.damage import describe

    with hold_to_read(run, may_write=repair):
        report = check(run, repair)
    print(json.dumps(report.to_json()) if as_json else "\n".join(map(printable, describe(report))))
    if not report.is_whole:
        raise typer.Exit(1)
