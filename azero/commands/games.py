"""`azero games`, `new-game`, `bench`, and `check-game`, `check-net`, `check-search` for what one has written."""

import json
from typing import Annotated

import typer

from azero.authoring.new_game import Kind
from azero.commands.options import DeviceOption, JsonOption, SeedOption, named_game
from azero.errors import BadInput, suggest_nearest

app = typer.Typer()


@app.command(epilog="Example:  azero games")
def games(as_json: JsonOption = False) -> None:
    """List the games, their parameters and the ranges of these."""
    from azero.games import parameters_of, registered_games
    from azero.games.names import write_value

    found = registered_games()
    if as_json:
        of_all = {}
        for name, rules in found.items():
            ranges = rules().ranges()
            defaults = parameters_of(rules)
            of_all[name] = {key: {"default": value, "range": ranges.get(key)} for key, value in defaults.items()}
        print(json.dumps(of_all))
        return
    for name, rules in found.items():
        listed = ",".join(f"{key}={write_value(value)}" for key, value in parameters_of(rules).items())
        print(f"{name}({listed})" if listed else name)
        print(f"    {(rules.__doc__ or '').strip().splitlines()[0]}")
        if ranges := rules().ranges():
            print(f"    {', '.join(f'{key} {low} to {high}' for key, (low, high) in ranges.items())}")


@app.command(name="new-game", epilog="Example:  azero new-game my_game --kind capture")
def new_game(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the files, NAME.py and NAME.toml.")],
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="placement: stones in a row; capture: stones turn others, with passes; moving: pieces step from cell "
            "to cell; score: sowing, with turns that go on.",
        ),
    ] = "placement",
) -> None:
    """Begin a game of your own: write a complete small game and its config into this folder.

    The game can be played and trained at once. Change its rules into yours, and check them after every change.
    """
    from azero.authoring.new_game import write_new_game

    source, config, game = write_new_game(name, kind)
    print(
        f"wrote {source} and {config}; next:\n"
        f"  azero check-game {game}\n"
        f"  azero train {config} --run runs/{name} --minutes 5\n"
        f"  azero play runs/{name}"
    )


@app.command(name="check-game", epilog="Example:  azero check-game my_game.py:MyGame --against slow.py:SlowGame")
def check_game(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game's name, or FILE.py:NAME for your own game.")],
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="FILE.py:NAME", help="A plain Python prototype to compare with, for up to a minute."
        ),
    ] = None,
    positions: Annotated[
        int, typer.Option("--positions", help="Random positions to check, fewer in slow games.")
    ] = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Check a game against the laws that every game must keep.

    Plays random games in plain Python and compiled. Prints each broken law, with the moves that lead to the position,
    and the board. If all are kept, prints what random games are like, and how fast the rules are.
    """
    from azero.authoring.check_game import check_game as check

    if not 1 <= positions <= 1_000_000:
        raise BadInput(f"--positions {positions} should be from 1 to 1,000,000")
    named_game(game)
    report = check(game, against, positions, seed, (lambda line: None) if as_json else print)
    if as_json:
        print(json.dumps(report.to_json()))
    if len(report.errors) == 1:
        raise BadInput(report.errors[0])
    if report.errors:
        raise BadInput(f"{game} has errors in {len(report.errors)} methods")
    if report.broken:
        raise BadInput(f"{game} breaks {len(report.broken)} of the laws: {', '.join(report.broken)}")


@app.command(name="check-net", epilog="Example:  azero check-net 'my_net.py:MyNet(width=64)' --game tic_tac_toe")
def check_net(
    net: Annotated[
        str,
        typer.Argument(
            metavar="NET", help="tower, any_size, dense, or your own net: FILE.py:NAME or FILE.py:NAME(option=1)."
        ),
    ],
    game: Annotated[str, typer.Option("--game", help="The game; see `azero games`.")],
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Check that a net can be trained and run on a game.

    Prints its size, and for each runtime its speed and how far its outputs are from fp32.
    """
    from azero.authoring.check_net import check_net as check
    from azero.authoring.check_net import describe
    from azero.config.reading import check_device
    from azero.games.make import make_trusted_game
    from azero.games.user.trust import trust_name

    named_game(game)
    trust_name(net, "net", is_kept=True)
    report = check(net, make_trusted_game(game), check_device(device, "auto"))
    print(json.dumps(report.to_json()) if as_json else "\n".join(describe(report)))


@app.command(name="check-search", epilog="Example:  azero check-search 'my_rule.py:MyRule(c=2)'")
def check_search(
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH", help="Your selection rule or root strategy: FILE.py:NAME or FILE.py:NAME(c=2)."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Check a selection rule or a root strategy of your own.

    Searches with it in plain Python, where every answer is checked, and compiled. Prints each broken law, with the
    method, and with the line if it fails. Prints the speed relative to azero's own.
    """
    from azero.authoring.check_search import check_search as check
    from azero.games.user.trust import trust_name

    trust_name(search, "search", is_kept=True)
    report = check(search, (lambda line: None) if as_json else print)
    if as_json:
        print(json.dumps(report.to_json()))
    if report.broken:
        raise BadInput(f"{search} breaks {len(report.broken)} of the laws: {', '.join(report.broken)}")


@app.command(epilog="Example:  azero bench --only net --seconds 1")
def bench(
    game: Annotated[
        str | None, typer.Option("--game", help="The game to measure; the config's game by default.")
    ] = None,
    config: Annotated[
        str, typer.Option("--config", help="The config whose net, self-play and training are measured.")
    ] = "connect_four",
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Seconds per measurement; self-play takes at least 5.")
    ] = 1.0,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PART", help="Only peak, kernels, net, selfplay or training; repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure this machine's speed.

    Measures the peak rate of multiply-adds; random games and searches without a net; the net alone, in comparison with
    that peak and with plain PyTorch; self-play; and training.
    """
    from azero.bench.report import SECTIONS, measure
    from azero.config.reading import find_config, load_config
    from azero.games.user.trust import trust_config

    if not 0.01 <= seconds <= 600:
        raise BadInput(f"--seconds {seconds} should be from 0.01 to 600")
    for each in only or ():
        if each not in SECTIONS:
            raise BadInput(f"--only {each!r} is not a measurement; {suggest_nearest(each, SECTIONS)}")
    settings = load_config(find_config(config), [f"game.name={json.dumps(game)}", "game.sizes=[]"] if game else [])
    trust_config(settings, is_kept=True)
    report = measure(settings, only or SECTIONS, seconds, (lambda text: None) if as_json else print)
    if as_json:
        print(json.dumps(report))
