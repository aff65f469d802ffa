"""`azero explain`: a search in the terminal, one simulation at a time."""

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from azero.commands.agents import MovesOption
from azero.commands.makers import Maker, device_of_options
from azero.commands.options import GameOption, JsonOption, PositionOption, SeedOption, named_game, start_of
from azero.errors import BadInput

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent
    from azero.games import State
    from azero.mcts.reference.shown import ShownSearch

app = typer.Typer()

_MOST_SIMULATIONS = 100_000
"""The search is the one in plain Python, which makes some thousand simulations a second at best."""


@app.command(epilog="Example:  azero explain uct --game connect_four --moves 4453 --simulations 30 --first 28")
def explain(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="An agent with a net, or uct, with options as in `azero suggest`.")
    ],
    game: GameOption = None,
    position: PositionOption = None,
    moves: MovesOption = "",
    simulations: Annotated[
        int, typer.Option("--simulations", metavar="N", min=1, max=_MOST_SIMULATIONS, help="Number of simulations.")
    ] = 10,
    first: Annotated[int, typer.Option("--first", metavar="K", min=1, help="The first one that is shown.")] = 1,
    root: Annotated[
        Literal["visits", "gumbel"], typer.Option("--root", help="visits, as in play; or gumbel, a root of self-play.")
    ] = "visits",
    c: Annotated[
        float | None, typer.Option("--c", metavar="C", min=0.0, max=1000.0, help="Another c of UCT, or c_puct of PUCT.")
    ] = None,
    seed: SeedOption = 0,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Moves that are listed of a node.")] = 8,
    as_json: JsonOption = False,
) -> None:
    """Explain a search: each simulation, step by step, with each term of the formulas.

    It is the search of `azero suggest` with the same seed, without what makes that one faster or stronger: look-ahead,
    solver, cache, several leaves at a time. --root gumbel shows a search of self-play, with the default constants.
    With --json, one object a line.
    """
    from azero.interfaces.terminal.explain import heading, show_simulation

    total = simulations + (root == "gumbel")  # which does not count the root's evaluation
    if first > total:
        raise BadInput(f"--first {first} comes after the last of {total} simulations; see --simulations")
    chosen = Maker(named_game(game), seed, 1, device_of_options([agent], "auto", "auto", "auto")).agent(agent)
    try:
        state = chosen.game.state_from_moves(moves, start_of(chosen.game, position))
        if state.is_terminal():
            raise BadInput(f"--moves {moves!r}: the game is over after them")
        shown = _search(chosen, state, root, simulations, c, seed)
        if not as_json:
            print(state.draw(), heading(shown.rule), sep="\n\n")
        for number in range(1, total + 1):
            if number < first:
                if not shown.skip():
                    break
                continue
            simulation = shown.next()
            if simulation is None:
                break
            print(json.dumps(simulation) if as_json else f"\n{show_simulation(simulation, top)}")
        if not as_json and shown.recording.root.proven is not None:
            print("\nthe result of the position is proven, so the search is over")
    finally:
        chosen.close()


def _search(agent: "Agent", state: "State", root: str, simulations: int, c: float | None, seed: int) -> "ShownSearch":
    from azero.mcts.reference.shown import ShownSearch, gumbel_recording_of, recording_of

    search = agent.new_search()
    if search is None:
        raise BadInput(f"agent {agent.name!r} has no tree of single moves to explain; try uct, or an agent with a net")
    if root == "gumbel":
        return ShownSearch(gumbel_recording_of(state, search, simulations, 1.0, c, seed))
    return ShownSearch(recording_of(state, search, c, seed))
