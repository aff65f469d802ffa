// Games that are kept in the browser: each is a link, and what links do not hold.
//
// A window keeps its own in sessionStorage, so that two windows do not disturb each other. Those with moves are in
// localStorage, too, where other windows find them, and later ones.

import { published } from "../published.js";

// files of one folder share a storage, and each has a game that the others lack
const PREFIX = published ? `azero.file.${published.game}.` : "azero.game.";
const CURRENT = published ? `azero.current.${published.game}` : "azero.current"; // the id of the game that the window shows
const VERSION = 1; // of the form of a kept game; those of another one are left alone
const MOST = 20; // games in each storage

const isText = (value) => typeof value === "string";
const isFlag = (value) => typeof value === "boolean";
const isIndex = (value) => Number.isSafeInteger(value) && value >= 0;
const isOneOf =
  (...all) =>
  (value) =>
    all.includes(value);
const isNoneOr = (fits) => (value) => value === undefined || value === null || fits(value);
const isListOf = (fits) => (value) => Array.isArray(value) && value.every((each) => fits(each));
const isPairOf = (fits) => (value) => isListOf(fits)(value) && value.length === 2;
const has = (fields) => (value) =>
  typeof value === "object" && value !== null && Object.entries(fields).every(([name, fits]) => fits(value[name]));

const isStrength = isNoneOr((level) => isIndex(level) || level === "adaptive");
const isAgent = has({ kind: isOneOf("agent"), agent: isText, level: isStrength, simulations: isNoneOr(isIndex) });
const isPlayer = (value) => has({ kind: isOneOf("human") })(value) || isAgent(value);

/** The form of a kept game. */
const isKept = has({
  version: isOneOf(VERSION),
  when: isIndex, // by Date.now
  link: isText, // not packed
  title: isText, // of the game
  numMoves: isIndex,
  isOver: isFlag,
  tags: (value) => has({})(value) && Object.values(value).every(isText), // of its record
  notes: isListOf(
    (note) =>
      isPairOf(() => true)(note) &&
      isIndex(note[0]) &&
      has({
        // of the tree
        comment: isNoneOr(isText),
        mark: isNoneOr(isText),
        name: isNoneOr(isText),
        isMarkedByReview: isNoneOr(isFlag),
        value: isNoneOr(Number.isFinite),
        simulations: isNoneOr(isIndex),
        seconds: isNoneOr(Number.isFinite),
      })(note[1]),
  ),
  play: isNoneOr(
    has({
      // of PlayGame
      players: isPairOf(isPlayer),
      limit: isNoneOr(has({ minutes: isIndex, increment: isIndex })),
      left: isNoneOr(isPairOf(Number.isFinite)),
      decided: isNoneOr(has({ winner: isOneOf(0, 1, null), text: isText })),
      seed: isNoneOr(isIndex),
      hint: isNoneOr(has({ move: isText, line: isListOf(isText), isLine: isFlag })),
      isPaused: isNoneOr(isFlag),
    }),
  ),
  review: isNoneOr(
    has({
      // of LineReview
      agent: isText,
      searched: isIndex,
      place: isText,
      numMoves: isIndex,
      isRunning: isFlag,
      moves: isListOf(
        isNoneOr(
          has({
            ply: isIndex,
            player: isOneOf(0, 1),
            move: isText,
            best: isText,
            line: isListOf(isText),
            mark: isText,
            value: Number.isFinite,
            played: Number.isFinite,
            loss: Number.isFinite,
          }),
        ),
      ),
      whole: isNoneOr(has({ accuracy: isPairOf(isNoneOr(Number.isFinite)), values: isListOf(Number.isFinite) })),
    }),
  ),
  analysis: isNoneOr(has({ second: isNoneOr(isText), limit: isIndex })), // of Analyst
});

/** In the place of a storage that the browser blocks. */
const NOWHERE = { getItem: () => null, setItem: () => {}, removeItem: () => {} };

function storageOf(open) {
  try {
    return published?.review ? NOWHERE : (open() ?? NOWHERE); // a file with a review keeps no games
  } catch {
    return NOWHERE;
  }
}

const OWN = storageOf(() => sessionStorage);
const SHARED = storageOf(() => localStorage);
const HERE = new Map(); // texts of games by their ids: until the page goes, no storage is needed

export const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;

/** Keys of the games but one, the one that was begun first in front: ids begin with the time. */
const keysOf = (storage, but = "") =>
  Object.keys(storage)
    .filter((key) => key.startsWith(PREFIX) && key !== but)
    .sort();

/** Keeps a game under an id, as the one that this window shows. Other windows find it only with `isWorth`. */
export function keep(id, game, isWorth) {
  const text = JSON.stringify({ version: VERSION, when: Date.now(), ...game });
  HERE.set(id, text);
  write(OWN, CURRENT, id);
  write(OWN, PREFIX + id, text);
  if (isWorth) write(SHARED, PREFIX + id, text);
  else hide(id);
}

/** Writes a text; older games make room. If there is still none, a reload will have the link alone. */
function write(storage, key, text) {
  const others = keysOf(storage, key);
  while (others.length >= MOST) storage.removeItem(others.shift());
  for (;;) {
    try {
      return storage.setItem(key, text);
    } catch {
      if (!others.length) return undefined;
      storage.removeItem(others.shift());
    }
  }
}

/** A game from its text; null if it is none: other programs and versions may have written there. */
function read(text) {
  try {
    const game = JSON.parse(text);
    return isKept(game) ? game : null;
  } catch {
    return null;
  }
}

/** The game of an id; null if there is none. */
export const find = (id) => read(HERE.get(id)) ?? read(OWN.getItem(PREFIX + id)) ?? read(SHARED.getItem(PREFIX + id));

/** The id of the game that this window showed last; null if there is none. */
export const currentId = () => OWN.getItem(CURRENT);

/** The games with moves of all windows, the newest first: [{id, ...}]. */
export function earlier() {
  const games = keysOf(SHARED).map((key) => ({ id: key.slice(PREFIX.length), ...read(SHARED.getItem(key)) }));
  return games.filter(({ version }) => version).sort((a, b) => b.when - a.when);
}

/** Other windows find a game no more. A window that still shows it keeps it again. */
export const hide = (id) => SHARED.removeItem(PREFIX + id);
