// The table of candidate moves. It is calm: rows change places at most once a second, never under the pointer.

import { html, useApp, useRef } from "../html.js";
import { formatVisits, priorText, proofOf, scoreOf } from "../score.js";
import { rowKeys, Stone } from "../shell/controls.js";
import { newOrder, settle } from "./calm.js";

const PROVEN = { win: 1, draw: 0, loss: -1 };

/** The value of a move for the player to move, exact if it is proven; null if nothing is known. */
function valueIn(move) {
  if (move.proven) return PROVEN[move.proven];
  return move.visits > 0 || move.is_bound ? move.value : null;
}

/**
 * Returns the rows of an update: {move, visits, share, bar, value, proof, isBound, loss, prior, pv, isBest}.
 *
 * `share` is the part of all visits, `bar` that of the most visited move's, `loss` the points lost against the best move, null where nothing or only a bound is known.
 */
export function rowsOf(update) {
  if (!update) return [];
  const total = update.moves.reduce((sum, move) => sum + move.visits, 0);
  const most = Math.max(1, ...update.moves.map((move) => move.visits));
  const best = update.moves.find((move) => move.move === update.best) ?? update.moves[0];
  const bestValue = best ? valueIn(best) : null;
  return update.moves.map((move) => {
    const value = valueIn(move);
    const isBound = move.is_bound && !move.proven;
    const isKnown = value !== null && bestValue !== null && move !== best && !isBound;
    return {
      move: move.move,
      visits: move.visits,
      share: total ? move.visits / total : 0,
      bar: move.visits / most,
      value,
      proof: proofOf(move),
      isBound,
      loss: isKnown ? Math.max(0, scoreOf(bestValue) - scoreOf(value)) : null,
      prior: move.prior,
      pv: move.pv,
      isBest: move === best,
    };
  });
}

/** Joins the rows of two agents by move: [{move, first, second}]; either may be null. */
function joined(first, second) {
  const others = new Map(second.map((row) => [row.move, row]));
  const both = first.map((row) => ({ move: row.move, first: row, second: others.get(row.move) ?? null }));
  const known = new Set(first.map((row) => row.move));
  return [
    ...both,
    ...second.filter((row) => !known.has(row.move)).map((row) => ({ move: row.move, first: null, second: row })),
  ];
}

const down = (read) => (a, b) => (read(b) ?? -Infinity) - (read(a) ?? -Infinity);
const up = (read) => (a, b) => (read(a) ?? Infinity) - (read(b) ?? Infinity);
const byName = new Intl.Collator("en", { numeric: true });

/** Orders of the columns; rows are {move, first, second}. Best moves come first. */
const SORTS = {
  move: (a, b) => byName.compare(a.move, b.move),
  visits: down((row) => row.first?.visits),
  score: down((row) => row.first?.value),
  loss: up((row) => (row.first?.isBest ? 0 : row.first?.loss)),
  prior: down((row) => row.first?.prior),
  visits2: down((row) => row.second?.visits),
  score2: down((row) => row.second?.value),
};

/** The moves in the order of a column. Equal rows keep the order of the search; its best move stays first by visits. */
const orderOf = (rows, column) => [...rows].sort(SORTS[column] ?? SORTS.visits).map((row) => row.move);

/** "46.3", "≤ 46.3", "win 5"; "–" where nothing is known. */
export function scoreText(row, digits = 1) {
  if (!row) return "–";
  if (row.proof) return row.proof;
  if (row.value === null) return "–";
  return `${row.isBound ? "≤ " : ""}${scoreOf(row.value).toFixed(digits)}`;
}

/** "−2.2"; "–" for the best move, "" where nothing is known. */
function lossText(row, digits = 1) {
  if (!row || row.isBest) return "–";
  if (row.loss === null) return "";
  const text = row.loss.toFixed(digits);
  return Number(text) === 0 ? text : `−${text}`;
}

const COLUMNS = {
  one: [
    ["move", "move", "col-move"],
    ["visits", "visits", "col-visits"],
    ["score", "score %", "col-number"],
    ["loss", "loss", "col-loss"],
    ["prior", "prior", "col-prior"],
    [null, "line", "col-line"],
  ],
  two: [
    ["move", "move", "col-move"],
    ["visits", "visits", "col-visits"],
    ["score", "score %", "col-number"],
    ["visits2", "visits", "col-visits second"],
    ["score2", "score %", "col-number second"],
    [null, "line", "col-line"],
  ],
};

/**
 * Props:
 *   first, second: rows of `rowsOf`; `second` is null without a second agent.
 *   sort, onSort(column): the column that rows are sorted by.
 *   active, onActive(move or null): the move under the pointer or the focus.
 *   onPlay(move): called by Enter, and by a click.
 */
export function CandidateTable({ first, second = null, sort, onSort, active, onActive, onPlay }) {
  const { session } = useApp();
  const { players } = session.game;
  const toMove = session.position.to_move;
  const body = useRef(null);
  const order = useRef(newOrder());
  const rows = joined(first, second ?? []);
  const isHeld = Boolean(body.current?.matches(":hover") || body.current?.querySelector(":focus-visible"));
  order.current = settle(
    order.current,
    `${session.keyOf(session.node)} ${sort} ${Boolean(second)}`,
    orderOf(rows, sort),
    performance.now(),
    isHeld,
  );
  const byMove = new Map(rows.map((row) => [row.move, row]));
  const shown = order.current.names.map((move) => byMove.get(move));
  const tabStop = shown.some((row) => row.move === active) ? active : shown[0]?.move;
  const columns = second ? COLUMNS.two : COLUMNS.one;
  return html`<div class="candidates-box">
    <table class="candidates ${second ? "two" : "one"}" aria-label="Candidate moves">
      <thead><tr>${columns.map(
        ([key, text, className]) => html`<${Heading} ...${{ column: key, text, className, sort, onSort, second }}
        stone=${key === "move" && html`<${Stone} player=${toMove} /><span class="hidden">of ${players[toMove].name}</span>`} />`,
      )}</tr></thead>
      <tbody ref=${body} onKeyDown=${rowKeys} onPointerLeave=${() => onActive(null)}>
        ${shown.map((row) => html`<${Row} key=${row.move} ...${{ row, isTwo: Boolean(second), isActive: row.move === active, isTabStop: row.move === tabStop, onActive, onPlay }} />`)}
      </tbody>
    </table>
  </div>`;
}

function Heading({ column, text, className, sort, onSort, second, stone }) {
  const swatch =
    second &&
    column?.startsWith("visits") &&
    html`<span class="swatch ${column === "visits2" ? "second" : ""}"></span>`;
  const agent =
    second && column && column !== "move"
      ? html`<span class="hidden">${column.endsWith("2") ? "second agent" : "first agent"}</span>`
      : null;
  if (!column) return html`<th scope="col" class=${className}>${text}</th>`;
  const isSorted = sort === column;
  const direction = column === "loss" || column === "move" ? "ascending" : "descending";
  return html`<th scope="col" class=${className} aria-sort=${isSorted ? direction : null}>
    <button class="sort ${isSorted ? "sorted" : ""}" title="Sort by ${text}" onClick=${() => onSort(column)}>${stone}${swatch}${text}${agent}</button>
  </th>`;
}

function Row({ row, isTwo, isActive, isTabStop, onActive, onPlay }) {
  const { move, first, second } = row;
  const pointer = useRef("mouse");
  const play = () => {
    if (pointer.current === "touch" && !isActive) onActive(move);
    else onPlay(move);
    pointer.current = "mouse";
  };
  const classes = `${first?.isBest ? "best" : ""} ${second?.isBest ? "best2" : ""} ${isActive ? "active" : ""}`;
  const line = (first ?? second).pv.join(" ");
  return html`<tr class=${classes} data-move=${move} onPointerEnter=${(event) => event.pointerType !== "touch" && onActive(move)}
    onPointerDown=${(event) => (pointer.current = event.pointerType)} onClick=${play}>
    <th scope="row" class="col-move"><button tabindex=${isTabStop ? 0 : -1} title="Play ${move}"
      onFocus=${(event) => event.target.matches(":focus-visible") && onActive(move)} onBlur=${() => onActive(null)}>${move}</button></th>
    <${Visits} row=${first} />
    <td class="col-number score">${scoreText(first, isTwo ? 0 : 1)}</td>
    ${
      isTwo
        ? html`<${Visits} row=${second} isSecond /><td class="col-number score second">${scoreText(second, 0)}</td>`
        : html`<td class="col-loss">${lossText(first)}</td><td class="col-prior">${first ? priorText(first.prior) : ""}</td>`
    }
    <td class="col-line" title=${line}><span>${line}</span></td>
  </tr>`;
}

const Visits = ({
  row,
  isSecond = false,
}) => html`<td class="col-visits ${isSecond ? "second" : ""}"><span class="visits">
  <span class="visits-bar" aria-hidden="true"><span style=${{ width: `${100 * (row?.bar ?? 0)}%` }}></span></span>
  <span>${row ? formatVisits(row.visits) : "–"}</span>
</span></td>`;
