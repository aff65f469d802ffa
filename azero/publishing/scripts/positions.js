// The game of the file: positions from moves, as POST positions of the server answers them.

import { areTextsFixed, Board } from "./pictures.js";

const MOST_PLIES = 2000;

/** A request that is refused: {status, code, message, at, value}. */
export class Refused extends Error {
  constructor(status, code, message, { at = null, value = null } = {}) {
    super(message);
    this.name = "Refused";
    this.status = status;
    this.code = code;
    this.at = at;
    this.value = value;
  }

  /** The object that the page gets. */
  get body() {
    const { code, message, at, value } = this;
    return { error: { code, message, ...(at === null ? {} : { at }), ...(value === null ? {} : { value }) } };
  }
}

/** Positions by the compiled rules of `engine`, drawn by the tables of `page`, which is the manifest's. */
export class Game {
  constructor(engine, page) {
    this.engine = engine;
    this.id = page.game.id;
    this.tables = page.tables;
    this.pictures = page.pictures;
    this.hasScore = page.game.has_score;
    this.isHistoryFree = page.isHistoryFree;
  }

  /** The player to move by the rules, also when the game is over: the planes are from this one's point of view. */
  get player() {
    return this.engine.player();
  }

  board() {
    return new Board(this.tables, () => this.engine.planes(), this.player);
  }

  /** Goes to the position that a request names; returns {actions, moves, movers, counts, boards of the last moves}. */
  goTo({ moves: words, position: start = null }) {
    const { engine } = this;
    const before = wordsOf(start);
    engine.reset();
    const line = { actions: [], moves: [], movers: [], counts: [], last: [] };
    this.playWords(before, line);
    const numBefore = line.actions.length;
    Object.assign(line, { moves: [], movers: [], counts: [], last: [] });
    this.playWords(typeof words === "string" ? words.split(/[\s,;]+/).filter(Boolean) : words, line);
    line.start = before.length ? line.actions.slice(0, numBefore) : [];
    return line;
  }

  playWords(words, line) {
    words.forEach((word, at) => {
      const before = line.moves.length;
      try {
        this.playWord(word, line);
      } catch (error) {
        error.at ??= at; // where the rules fail
        if (!(error instanceof Refused)) throw error;
        throw new Refused(422, "illegal_move", `move ${at + 1}: ${error.message}`, { at, value: word });
      }
      line.counts.push(line.moves.length - before);
    });
  }

  /** Plays a word: one move, or several together, such as a whole turn. */
  playWord(word, line) {
    let rest = word;
    while (rest) {
      const board = this.board();
      const legal = this.engine.legal();
      const found = longestOf(legal, board, rest);
      if (!found) throw new Refused(422, "illegal_move", refusal(word, legal, board));
      if (line.moves.length >= MOST_PLIES)
        throw new Refused(422, "too_long", `the game has more than ${MOST_PLIES} moves`);
      line.last = board.cellsOf(found.action);
      line.movers.push(this.engine.toMove());
      line.actions.push(found.action);
      line.moves.push(found.text);
      this.engine.play(found.action);
      rest = rest.slice(found.length).replace(/^[\s,;]+/, "");
    }
  }

  /** The answer to POST positions. */
  describe(asked) {
    if (asked.game !== this.id) return this.pictureOf(asked);
    const line = this.goTo(asked);
    const { moves, movers, counts, last, actions } = line;
    const { engine, player } = this;
    const outcome = engine.outcome();
    const winner = outcome === null || outcome === 0 ? null : outcome > 0 ? 0 : 1;
    const run = [];
    for (let k = movers.length - 1; k >= 0 && movers[k] === player; k--) run.unshift(actions[k]);
    const picture = this.board().picture(engine.legal(), run, winner);
    return {
      game: this.id,
      moves,
      movers,
      counts,
      text: moves.join(" "),
      ply: moves.length,
      to_move: engine.toMove(),
      result: outcome === null ? null : this.resultOf(winner, picture),
      picture,
      last,
      position: ["moves:", ...wordsOf(asked.position), ...moves].join(" "),
    };
  }

  /** A position of another game, which the rules of this one show. */
  pictureOf({ game, moves }) {
    const found = this.pictures.find((each) => each.asked.game === game && each.asked.moves === moves);
    if (!found) throw new Refused(404, "unknown_game", "this file has another game", { value: game });
    return found.position;
  }

  resultOf(winner, { players }) {
    if (winner === null) return { winner, text: "Draw" };
    const margin = this.hasScore ? ` by ${general(Math.abs(this.engine.score()))}` : "";
    return { winner, text: `${players[winner].name} wins${margin}` };
  }

  /** Writes lines of play, each from the position after `actions`. */
  textsOf(actions, lines) {
    if (areTextsFixed(this.tables)) {
      const board = this.board();
      return lines.map((line) => line.map((action) => board.textOf(action)));
    }
    return lines.map((line) => {
      this.engine.goTo(actions);
      return line.map((action) => {
        const text = this.board().textOf(action);
        this.engine.play(action);
        return text;
      });
    });
  }
}

/** The words of "moves: 4 4 5". */
function wordsOf(position) {
  if (!position) return [];
  if (!position.startsWith("moves:"))
    throw new Refused(422, "bad_position", "a published page reads positions as moves: ...", { value: position });
  return position.slice("moves:".length).split(/\s+/).filter(Boolean);
}

/** The legal action whose text begins a word, the longest one; null if there is none. Capitals matter if they decide. */
function longestOf(legal, board, word) {
  const texts = legal.map((action) => board.textOf(action));
  const longest = (begins) => {
    let found = null;
    for (const [k, text] of texts.entries())
      if (begins(text) && text.length > (found?.length ?? 0)) found = { action: legal[k], text, length: text.length };
    return found;
  };
  const lower = word.toLowerCase();
  return longest((text) => word.startsWith(text)) ?? longest((text) => lower.startsWith(text.toLowerCase()));
}

const MOST_LISTED = 12;

function refusal(word, legal, board) {
  if (!legal.length) return `'${word}' cannot be played: the game is over`;
  const texts = legal.slice(0, MOST_LISTED).map((action) => board.textOf(action));
  return `'${word}' is not legal here; legal moves: ${texts.join(" ")}${legal.length > MOST_LISTED ? " ..." : ""}`;
}

/** "7.5", or "7" for a whole number. */
const general = (number) => String(Math.round(1e6 * number) / 1e6);
