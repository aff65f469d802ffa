"""Draws the two pictures of the README into docs/pictures/: a suggestion, and the progress of a run.

    python docs/figures.py runs/connect_four_quick --games 200

Each net that the run has kept plays a match against uct@1000.
"""

import argparse
import io
import os
from pathlib import Path

import azero
from azero.arena.matches.match import play_match
from azero.compiler.cache import cache_root
from azero.system.files import write_whole
from azero.training.compared_runs import read_run

PICTURES = Path(__file__).parent / "pictures"
BLUE, RED, YELLOW = "#2b5ea8", "#c8402f", "#f0c33c"


def new_figure(width: float, height: float):
    """Returns a matplotlib figure, with sizes in inches. The font cache is in azero's cache."""
    os.environ.setdefault("MPLCONFIGDIR", str(cache_root() / "matplotlib"))
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=120, layout="constrained")


def save(figure, name: str) -> None:
    """Writes a figure as PNG."""
    data = io.BytesIO()
    figure.savefig(data, format="png", metadata={"Software": None})
    write_whole(PICTURES / name, data.getvalue())


def draw_suggestion(agent: str, moves: str) -> None:
    """Draws a position of Connect Four, with the value of each move above its column. The best one is bold."""
    from matplotlib.patches import Circle, Rectangle

    game = azero.make_game("connect_four")
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(game.text_to_action(state, move))
    suggestion = azero.make_agent(agent, game=game, seed=0).suggest(state)
    figure = new_figure(4.6, 4.6)
    axes = figure.subplots()
    axes.add_patch(Rectangle((0.4, 0.4), 7.2, 6.2, color=BLUE))
    stones: dict[tuple[int, int], str] = {}
    for ply, move in enumerate(moves):
        column = int(move)
        height = 1 + sum(1 for place in stones if place[0] == column)
        stones[column, height] = YELLOW if ply % 2 else RED
    for column in range(1, 8):
        for row in range(1, 7):
            axes.add_patch(Circle((column, row), 0.41, color=stones.get((column, row), "white")))
        axes.text(column, 0.1, str(column), ha="center", va="center", fontsize=10, color="#555555")
    for move in suggestion.moves:
        weight = "bold" if move.move == suggestion.best else "normal"
        text = f"{100 * move.value:+.0f}" if move.visits else "–"
        axes.text(int(move.move), 6.95, text, ha="center", fontsize=10, weight=weight)
    to_move = "yellow" if len(moves) % 2 else "red"
    axes.set_title(f"{agent}, {to_move} to move: values in hundredths\nbest: column {suggestion.best}", fontsize=10)
    axes.set(xlim=(0.3, 7.7), ylim=(-0.2, 7.4), aspect="equal")
    axes.axis("off")
    save(figure, "suggestion.png")


def draw_learning(run: Path, games: int) -> None:
    """Draws the score of a run's promoted nets against uct@1000, with 95 % intervals, by minutes of training."""
    axes = read_run(run).axes
    minutes = {0: 0.0, **dict(zip(axes["iteration"], (seconds / 60 for seconds in axes["time_s"]), strict=True))}
    paths = {int(path.stem): path for path in sorted((run / "checkpoints").glob("[0-9]*.safetensors"))}
    game = azero.make_game("connect_four")
    results = {}
    for iteration, path in paths.items():
        agents = azero.make_agent(f"{path}@200", game=game), azero.make_agent("uct@1000", game=game)
        results[iteration] = match = play_match(*agents, game, games).to_json()
        print(f"iteration {iteration}: {match['score']:.1%}", flush=True)
    figure = new_figure(5.4, 4.0)
    axes = figure.subplots()
    xs = [minutes[iteration] for iteration in results]
    scores = [100 * match["score"] for match in results.values()]
    lows, highs = ([100 * match["score_ci95"][end] for match in results.values()] for end in (0, 1))
    below = [score - low for score, low in zip(scores, lows, strict=True)]
    above = [high - score for score, high in zip(scores, highs, strict=True)]
    axes.errorbar(xs, scores, [below, above], fmt="-o", color=BLUE, markersize=4, capsize=2)
    axes.axhline(50, linestyle="--", color="#777777", linewidth=1)
    axes.set(xlabel="minutes of self-play and training, two cores", ylabel="score against uct@1000, %", ylim=(0, 100))
    axes.set_title("make train: the nets it promotes, 200 simulations", fontsize=10)
    axes.grid(alpha=0.3)
    save(figure, "learning.png")


def main() -> None:
    """Draws both pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run of connect_four_quick")
    parser.add_argument("--games", type=int, default=200, help="games of each match")
    options = parser.parse_args()
    draw_suggestion("connect_four@800", "4453")
    draw_learning(options.run, options.games)


if __name__ == "__main__":
    main()
