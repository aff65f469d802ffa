"""A stand-in for the server's analyses, within the page: the test knows each value, and chooses how fast they come."""

import json

SCRIPT = """
(() => {
  const settings = SETTINGS;
  const real = window.fetch;
  const encoder = new TextEncoder();
  const event = (name, data) => encoder.encode(`event: ${name}\\ndata: ${JSON.stringify(data)}\\n\\n`);
  window.updatesSent = 0;

  const updateOf = (body, names, count) => {
    const plies = Array.isArray(body.moves) ? body.moves.length : 0;
    const toMove = plies % 2;
    const value = toMove === 0 ? settings.value : -settings.value;
    const shift = settings.shuffles ? count : 0;
    const moves = names.map((move, k) => ({
      move, action: k, visits: 1000 + 100 * ((k * 3 + shift) % names.length) + count, value: value - 0.02 * k,
      prior: 1 / names.length, proven: null, proven_plies: null, pv: [move],
    }));
    moves.sort((a, b) => b.visits - a.visits);
    moves[0].value = value;
    return {
      game: body.game, to_move: toMove, simulations: 7000 + count, elapsed_s: count / 100, value, best: moves[0].move,
      moves, simulations_per_s: 700, outcomes: settings.outcomes, score: null, ownership: null, proven: null,
      is_last: false,
    };
  };

  window.fetch = async (url, options = {}) => {
    if (!String(url).endsWith("/analyses")) return real(url, options);
    const body = JSON.parse(options.body);
    const names = settings.moves;
    let timer = null;
    const stream = new ReadableStream({
      start(controller) {
        let count = 0;
        controller.enqueue(event("stage", { stage: "searching", text: "", elapsed_s: 0, expected_s: null }));
        const push = () => {
          controller.enqueue(event("update", updateOf(body, names, count++)));
          window.updatesSent++;
        };
        push();
        timer = setInterval(push, settings.interval_ms);
        options.signal?.addEventListener("abort", () => {
          clearInterval(timer);
          controller.error(new DOMException("aborted", "AbortError"));
        });
      },
      cancel: () => clearInterval(timer),
    });
    return new Response(stream, { status: 200, headers: { "Content-Type": "text/event-stream" } });
  };
})();
"""


def fake_stream(
    *, moves: list[str], value: float, interval_ms: int, shuffles: bool, outcomes: list[float] | None = None
) -> str:
    """Returns a script for the page. Its analyses never end by themselves.

    Args:
      moves: the candidate moves of every position.
      value: of every position, in [-1, 1], for the first player.
      interval_ms: between two updates.
      shuffles: whether the order by visits changes with each update.
      outcomes: wins of the first player, draws and wins of the second, of every position; None: no agent knows them.
    """
    settings = {"moves": moves, "value": value, "interval_ms": interval_ms, "shuffles": shuffles, "outcomes": outcomes}
    return SCRIPT.replace("SETTINGS", json.dumps(settings))
