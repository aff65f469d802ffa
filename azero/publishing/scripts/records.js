// Records as text: azero's own format, as `azero/records/text.py` reads and writes it. docs/records.md has the format.

import { Refused } from "./positions.js";

const FORMAT = "1";
const RESULTS = ["1-0", "0-1", "1/2-1/2", "*"];
const UNKNOWN = "*";
const GLYPHS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!" }; // marks by their numbers in PGN
const MARKS = Object.values(GLYPHS);
const WIDTH = 100;
const MOST_MOVES = 10_000;
const MOST_DEEP = 100; // variations within each other

const bad = (message) => new Refused(422, "bad_input", message);

// ---- writing

const PLAIN = /^[^\s{}()[\]";$?!*][^\s{}()[\]";]*(?<![?!])$/;
const isPlain = (text) => PLAIN.test(text) && !RESULTS.includes(text) && !/^\d+\.+$/.test(text);
const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;
const braced = (text) => `{${text.replace(/[}\\]/g, "\\$&")}}`;

/** The answer to POST records/write. */
export function write(game, name, { nodes, tags = {}, result, format }) {
  if (format === "sgf") throw bad("a published page writes no SGF");
  const tree = treeOf(game, nodes);
  const byRules = resultAt(game, tree.main);
  const isTold = byRules === UNKNOWN || "Termination" in tags;
  const written = result && isTold ? result : byRules;
  const { First, Second, ...others } = /** @type {Record<string, string>} */ (tags);
  const all = { Format: FORMAT, Game: name, First, Second, Result: written, ...others };
  const head = Object.entries(all).filter(([, text]) => text !== undefined);
  const words = [...commentsOf(tree.root), ...wordsAfter(tree.root), written];
  return { text: [...head.map(([tag, text]) => `[${tag} ${quoted(text)}]`), "", ...linesOf(words), "", ""].join("\n") };
}

/** The nodes with their children, moves as the game writes them, and the actions of the main line. */
function treeOf(game, nodes) {
  const made = nodes.map((node) => ({ ...node, children: [] }));
  nodes.forEach(({ parent }, number) => number && made[parent].children.push(made[number]));
  const visit = (node, actions) => {
    for (const child of node.children) {
      const line = playOne(game, actions, child.move);
      child.move = line.text;
      visit(child, [...actions, line.action]);
    }
  };
  visit(made[0], []);
  const main = [];
  for (let [node] = made[0].children; node; [node] = node.children) main.push(node.move);
  return { root: made[0], main };
}

/** The legal action after `actions` that a text names. */
function playOne(game, actions, move) {
  game.engine.goTo(actions);
  const line = { actions: [], moves: [], movers: [], counts: [], last: [] };
  game.playWord(move, line);
  if (line.actions.length !== 1) throw bad(`${move} is more than one move`);
  return { action: line.actions[0], text: line.moves[0] };
}

/** The result by the rules after moves. */
function resultAt(game, moves) {
  const { result } = game.describe({ game: game.id, moves });
  return result ? ({ 0: "1-0", 1: "0-1" }[result.winner] ?? "1/2-1/2") : UNKNOWN;
}

function* wordsAfter(from) {
  for (let node = from; node.children.length; [node] = node.children) {
    const [first, ...variations] = node.children;
    yield wordOf(first);
    yield* commentsOf(first);
    for (const variation of variations) {
      const words = [wordOf(variation), ...commentsOf(variation), ...wordsAfter(variation)];
      words[0] = `(${words[0]}`;
      words.push(`${words.pop()})`);
      yield* words;
    }
  }
}

const wordOf = ({ move, mark = "" }) => (isPlain(move) ? move : quoted(move)) + mark;

function commentsOf({ name = "", ...node }) {
  const title = name.split(/\s+/).filter(Boolean).join(" ");
  return [title && `name: ${title}`, commentOf(node)].filter(Boolean).map(braced);
}

/** A comment, with what the player thought of the move: `+0.120/800 0.310s`. */
function commentOf({ comment = "", value = null, simulations = null, seconds = null }) {
  let thought = value === null ? "" : `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;
  if (simulations !== null) thought += `/${simulations}`;
  if (seconds !== null) thought += `${thought ? " " : ""}${seconds.toFixed(3)}s`;
  if (!comment) return thought;
  return thought || /^(,|name: )/.test(comment) || thoughtIn(comment) ? `${thought}, ${comment}` : comment;
}

function* linesOf(words) {
  let line = "";
  for (const word of words) {
    if (line && line.length + 1 + word.length > WIDTH) {
      yield line;
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  yield line;
}

// ---- reading

const TOKEN =
  /\[\s*(?<tag>\w{1,100}\s*"(?:[^"\\]|\\.)*")\s*\]|\{(?<comment>(?:[^}\\]|\\.)*)\}|;(?<note>[^\n]*)|"(?<quoted>(?:[^"\\]|\\.)*)"|(?<bracket>[()])|\$(?<glyph>\d{1,3})|(?<word>[^\s{}()[\]";$]+)/suy;
const OPENED = { "{": "a comment", '"': "a quoted move", "[": "a tag" };
const THOUGHT = /^([+-][01]\.\d{3})?(?:\/(\d{1,15}))?(?:(?:^|(?<=\d) )(\d{1,9}\.\d{3})s)?(?:$|, ?)/;

const unescaped = (text) => text.replace(/\\(.)/gs, "$1");

/** The tokens of a text: {kind, text, line}, the last of kind "end". */
function* split(text) {
  let [at, line] = [0, 1];
  const linesIn = (part) => part.split("\n").length - 1;
  for (;;) {
    const begin = at + text.slice(at).search(/\S|$/);
    line += linesIn(text.slice(at, begin));
    if (begin === text.length) break;
    TOKEN.lastIndex = begin;
    const found = TOKEN.exec(text);
    if (!found) {
      const opened = OPENED[text[begin]];
      throw bad(
        `line ${line}: ${opened ? `${opened} is not complete; is the file cut short?` : `'${text[begin]}' has no meaning`}`,
      );
    }
    const [kind, content] = Object.entries(found.groups).find(([, each]) => each !== undefined);
    yield { kind, text: content, line };
    at = TOKEN.lastIndex;
    line += linesIn(text.slice(begin, at));
  }
  yield { kind: "end", text: "", line };
}

/** Tokens, of which the next one is known. */
class Tokens {
  constructor(text) {
    this.left = split(text);
    this.take();
  }

  take() {
    const token = this.next;
    this.next = /** @type {{kind: string, text: string, line: number}} */ (this.left.next().value);
    return token;
  }
}

/** The answer to POST records/read. */
export function read(game, name, { text, format }) {
  const whole = text.replace(/^\uFEFF/, "");
  if (format === "sgf" || whole.trimStart().startsWith("(;")) throw bad("a published page reads no SGF");
  const tokens = new Tokens(whole);
  const games = [];
  while (tokens.next.kind !== "end") games.push(readOne(game, name, tokens));
  if (!games.length) throw bad("the record has no games");
  return { games };
}

function readOne(game, name, tokens) {
  const tags = /** @type {Record<string, string>} */ ({});
  const { line: first } = tokens.next;
  while (["tag", "note"].includes(tokens.next.kind)) {
    const { kind, text } = tokens.take();
    const at = text.indexOf('"');
    if (kind === "tag") tags[text.slice(0, at).trim()] = unescaped(text.slice(at + 1, -1));
  }
  const { Format = FORMAT, Game = name, Position, Result: told = UNKNOWN, ...others } = tags;
  if (Format !== FORMAT) throw bad(`line ${first}: the record has format ${Format}; this page reads format ${FORMAT}`);
  if (Game !== name) throw bad(`line ${first}: the record is of ${Game}, not of ${name}`);
  if (Position !== undefined)
    throw bad(`line ${first}: the record begins at a position of its own, which a published page cannot read`);
  const moves = new Moves(game);
  for (;;) {
    const token = tokens.next.kind === "end" ? tokens.next : tokens.take();
    if (token.kind === "word" && RESULTS.includes(token.text)) {
      moves.finish();
      const byRules = "Termination" in others ? UNKNOWN : resultAt(game, moves.main());
      return {
        game: game.id,
        tags: others,
        result: agreed(told, token.text, byRules, token.line),
        start: null,
        nodes: moves.nodes.map(({ actions, comments, ...node }) => node),
      };
    }
    if (["end", "tag"].includes(token.kind))
      throw bad(
        `line ${token.line}: the game has no result at its end, one of ${RESULTS.join(", ")}; is the file cut short?`,
      );
    try {
      moves.take(token);
    } catch (error) {
      throw error instanceof Refused ? bad(`line ${token.line}: ${error.message}`) : error;
    }
  }
}

function agreed(...each) {
  const line = each.pop();
  const results = new Set(each.filter((result) => result !== UNKNOWN));
  const [told, written, byRules] = each;
  if (!RESULTS.includes(told))
    throw bad(`line ${line}: the result '${told.slice(0, 20)}' should be one of ${RESULTS.join(", ")}`);
  if (results.size > 1)
    throw bad(
      `line ${line}: the results contradict each other: the tag says ${told}, the moves end with ${written}, by the rules it is ${byRules}`,
    );
  return [...results][0] ?? UNKNOWN;
}

/** Builds the nodes of a record. */
class Moves {
  constructor(game) {
    this.game = game;
    this.nodes = [{ comment: "", name: "", actions: [], comments: [] }];
    this.at = 0; // number of the last node
    this.before = null; // of the node where the last word began
    this.left = []; // lines that variations have interrupted
    this.comments = []; // of the last node, or before the first move of a variation
  }

  take({ kind, text }) {
    if (kind === "comment" || kind === "note") this.comments.push(kind === "comment" ? unescaped(text) : text);
    else if (kind === "bracket") text === "(" ? this.begin() : this.end();
    else if (kind === "glyph") this.setMark(GLYPHS[text] ?? "");
    else if (kind === "quoted") this.play(unescaped(text), "");
    else if (this.before === null || !this.setMark(text)) {
      const [, word, mark] = /^(.+?)(\?\?|\?!|!\?|!!|\?|!)$/s.exec(text) ?? [null, text, ""];
      if (!/^\d+\.+$/.test(word)) this.play(word, mark);
    }
  }

  setMark(text) {
    if (!MARKS.includes(text)) return false;
    if (this.before !== null) this.nodes[this.at].mark = text;
    return true;
  }

  play(word, mark) {
    if (this.before !== null || !this.left.length) this.writeComments();
    this.before = this.at;
    const { actions: start } = this.nodes[this.at];
    const line = { actions: [], moves: [], movers: [], counts: [], last: [] };
    this.game.engine.goTo(start);
    try {
      this.game.playWord(word, line);
    } catch (error) {
      throw error instanceof Refused ? bad(`move ${start.length + line.moves.length + 1}: ${error.message}`) : error;
    }
    line.moves.forEach((move, k) => {
      const actions = [...start, ...line.actions.slice(0, k + 1)];
      const own = { comment: "", mark: "", name: "", value: null, simulations: null, seconds: null };
      this.nodes.push({ parent: this.at, move, ...own, actions, comments: [] });
      this.at = this.nodes.length - 1;
    });
    if (this.nodes.length > MOST_MOVES)
      throw bad(`the records have more than ${MOST_MOVES} moves, variations included`);
    this.nodes[this.at].mark = mark;
  }

  writeComments() {
    const node = this.nodes[this.at];
    for (const text of this.comments) {
      if (text.trim().startsWith("name: ")) node.name = text.trim().slice("name: ".length).trim();
      else node.comments.push(text);
    }
    this.comments = [];
  }

  begin() {
    if (this.before === null) throw bad("a variation has no move before it that it replaces");
    if (this.left.length === MOST_DEEP) throw bad(`there are more than ${MOST_DEEP} variations within each other`);
    this.writeComments();
    this.left.push([this.at, this.before]);
    this.at = this.before;
    this.before = null;
  }

  end() {
    if (!this.left.length) throw bad(") ends no variation");
    if (this.before === null) throw bad("a variation has no move");
    this.writeComments();
    [this.at, this.before] = this.left.pop();
  }

  finish() {
    this.writeComments();
    for (const node of this.nodes) readComments(node);
    if (this.left.length) throw bad("a variation is not complete: ) is missing before the result");
  }

  /** The moves of the main line. */
  main() {
    const moves = [];
    let at = 0;
    for (const [number, { parent, move }] of this.nodes.entries()) {
      if (parent !== at || number === 0) continue; // the first child of a node comes before its other ones
      moves.push(move);
      at = number;
    }
    return moves;
  }
}

/** Writes what the comments of a move tell into its node. */
function readComments(node) {
  const rests = [];
  for (const text of node.comments.map((each) => each.trim())) {
    const found = thoughtIn(text);
    if (found?.[1]) node.value = Number(found[1]);
    if (found?.[2]) node.simulations = Number(found[2]);
    if (found?.[3]) node.seconds = Number(found[3]);
    rests.push(found ? text.slice(found[0].length).trim() : text);
  }
  node.comment = rests.filter(Boolean).join("\n");
}

function thoughtIn(comment) {
  const found = THOUGHT.exec(comment);
  return !found?.[0] || Math.abs(Number(found[1] ?? 0)) > 1 ? null : found;
}
