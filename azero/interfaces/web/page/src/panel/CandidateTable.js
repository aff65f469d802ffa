// The table of candidate moves. It is calm: rows change places at most once a second, never under the pointer.

import { html, useRef } from "../html.js";
import { Stone } from "../shell/icons.js";
import { formatVisits } from "../score.js";
import { joined, lossText, orderOf, priorText, scoreText } from "./candidates.js";
import { newOrder, settle } from "./calm.js";

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
 *   players, toMove: whose moves these are; their stone is in the heading.
 *   position: a key that changes with the position.
 *   first, second: rows of candidates.js; `second` is null without a second agent.
 *   sort, onSort(column): the column that rows are sorted by.
 *   active, onActive(move or null): the move under the pointer or the focus.
 *   onPlay(move): called by Enter, and by a click.
 */
export function CandidateTable({ players, toMove, position, first, second = null, sort, onSort, active, onActive, onPlay }) {
  const body = useRef(null);
  const order = useRef(newOrder());
  const rows = joined(first, second ?? []);
  const isHeld = Boolean(body.current?.matches(":hover") || body.current?.querySelector(":focus-visible"));
  order.current = settle(order.current, `${position} ${sort} ${Boolean(second)}`, orderOf(rows, sort), performance.now(), isHeld);
  const byMove = new Map(rows.map((row) => [row.move, row]));
  const shown = order.current.names.map((move) => byMove.get(move));
  const tabStop = shown.some((row) => row.move === active) ? active : shown[0]?.move;
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.shiftKey) return;
    const buttons = [...body.current.querySelectorAll("button")];
    buttons[buttons.indexOf(event.target) + step]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const columns = second ? COLUMNS.two : COLUMNS.one;
  return html`<div class="candidates-box">
    <table class="candidates ${second ? "two" : "one"}" aria-label="Candidate moves">
      <thead><tr>${columns.map(([key, text, className]) => html`<${Heading} ...${{ column: key, text, className, sort, onSort, second }}
        stone=${key === "move" && html`<${Stone} players=${players} player=${toMove} /><span class="hidden">of ${players[toMove].name}</span>`} />`)}</tr></thead>
      <tbody ref=${body} onKeyDown=${onKeyDown} onPointerLeave=${() => onActive(null)}>
        ${shown.map((row) => html`<${Row} key=${row.move} ...${{ row, isTwo: Boolean(second), isActive: row.move === active, isTabStop: row.move === tabStop, onActive, onPlay }} />`)}
      </tbody>
    </table>
  </div>`;
}

function Heading({ column, text, className, sort, onSort, second, stone }) {
  const swatch = second && column?.startsWith("visits") && html`<span class="swatch ${column === "visits2" ? "second" : ""}"></span>`;
  const agent = second && column && column !== "move" ? html`<span class="hidden">${column.endsWith("2") ? "second agent" : "first agent"}</span>` : null;
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
    ${isTwo
      ? html`<${Visits} row=${second} isSecond /><td class="col-number score second">${scoreText(second, 0)}</td>`
      : html`<td class="col-loss">${lossText(first)}</td><td class="col-prior">${first ? priorText(first.prior) : ""}</td>`}
    <td class="col-line" title=${line}><span>${line}</span></td>
  </tr>`;
}

const Visits = ({ row, isSecond = false }) => html`<td class="col-visits ${isSecond ? "second" : ""}"><span class="visits">
  <span class="visits-bar" aria-hidden="true"><span style=${{ width: `${100 * (row?.bar ?? 0)}%` }}></span></span>
  <span>${row ? formatVisits(row.visits) : "–"}</span>
</span></td>`;
