// The nets of a run: to play against, and how their opinion of the position changed over the iterations.

import { GameTree } from "../../game/tree.js";
import { html, useApp, useEffect, useState } from "../../html.js";
import { formatCount, formatScore, nameOf } from "../../score.js";

const MOST_ROWS = 7;
const FULL = 0.5; // the least share that has the full colour
const percent = (share) => Math.round(100 * share);

export function OpinionsOfNets() {
  const { watch } = useApp();
  useEffect(() => void watch.askOpinions());
  const { opinions: list = [], isWhole, problems = [] } = watch.opinions ?? {};
  const own = watch.opinion;
  const isOver = watch.board.position.to_move === null;
  return html`<section class="opinions">
    <header><h2 class="small">This position, net by net</h2><small>${isOver || !own ? "" : captionOf(list, isWhole)}</small></header>
    ${isOver ? html`<p class="detail heat-place">The game is over here.</p>` : own ? html`<${Heat} />` : html`<p class="detail heat-place">${isWhole ? "No net of this run has an opinion." : "Opening the nets …"}</p>`}
    ${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
  </section>`;
}

const captionOf = (list, isWhole) =>
  `prior of each move, iterations ${list[0].iteration} to ${list.at(-1).iteration}${isWhole ? "" : ", opening more …"}`;

function Heat() {
  const { watch } = useApp();
  const { board: session, opinion: own } = watch;
  const { opinions: list } = watch.opinions;
  const moves = mostLiked(list);
  const [best, share] = Object.entries(own.prior).reduce((a, b) => (b[1] > a[1] ? b : a));
  const first = nameOf(session.game, 0);
  const every = Math.ceil(list.length / 12);
  const most = Math.max(FULL, ...moves.flatMap((move) => list.map(({ prior }) => prior[move] ?? 0)));
  return html`<div class="opinions-body ${watch.opinions.isOld ? "old" : ""}">
    <div class="heat">
      <div class="heat-moves" aria-hidden="true">${moves.map((move) => html`<span class=${move === best ? "best" : ""}>${move}</span>`)}</div>
      <div class="heat-columns" role="group" aria-label="Nets by iteration">
        ${list.map(
          (opinion, k) => html`<button
          key=${opinion.iteration}
          class="heat-column ${opinion === own ? "own" : ""}"
          tabindex=${opinion === own ? 0 : -1}
          aria-pressed=${String(opinion === own)}
          aria-label=${`Net of iteration ${opinion.iteration}: ${spoken(opinion, session)}`}
          onClick=${() => watch.chooseIteration(opinion.iteration)}
        >
          ${moves.map((move) => html`<span class="heat-cell" style=${{ "--share": (opinion.prior[move] ?? 0) / most }}></span>`)}
          <span class="heat-tick">${k % every === 0 || opinion === own ? opinion.iteration : ""}</span>
        </button>`,
        )}
      </div>
    </div>
    <p class="opinion">
      <strong>${best}: ${percent(share)} %</strong><small>of the prior</small>
      <strong>score ${formatScore(own.value, 0)} %</strong><small>for ${first}</small>
    </p>
    <details class="as-table"><summary>as a table</summary><${Table} ...${{ moves, list, first }} /></details>
  </div>`;
}

const Table = ({ moves, list, first }) => html`<table aria-label="Opinions of the nets">
  <thead><tr><th scope="col">net</th>${moves.map((move) => html`<th scope="col">${move}</th>`)}<th scope="col">score for ${first}</th></tr></thead>
  <tbody>${list.map(({ iteration, prior, value }) => html`<tr><th scope="row">${iteration}</th>${moves.map((move) => html`<td>${percent(prior[move] ?? 0)}%</td>`)}<td>${formatScore(value, 0)}%</td></tr>`)}</tbody>
</table>`;

function spoken({ prior, value }, session) {
  const [best, share] = Object.entries(prior).reduce((a, b) => (b[1] > a[1] ? b : a));
  return `${best} has ${percent(share)} percent, score ${formatScore(value, 0)} percent for ${nameOf(session.game, 0)}`;
}

/** The moves that some net liked most, in the order of the game's notation. */
function mostLiked(list) {
  const most = new Map();
  for (const { prior } of list)
    for (const [move, share] of Object.entries(prior)) most.set(move, Math.max(share, most.get(move) ?? 0));
  const liked = [...most]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_ROWS)
    .map(([move]) => move);
  return [...most.keys()].filter((move) => liked.includes(move));
}

/** Opens the game of the board in the other views; returns whether it is there. Their own game stays if it is the same one. */
async function takeGame({ app, board }) {
  return app.session.game.id === board.game.id || app.setGame(board.game.id);
}

/** Shows the board's moves in the other views, in place of the user's game. */
export async function takeToViews(watch) {
  const { app, board } = watch;
  const { session } = app;
  if (board === session) return true;
  if (board.start) return takeGame(watch); // Runs alone can show its moves
  if (!(await takeGame(watch))) return false;
  await session.setTree(GameTree.fromText(board.tree.toText()), board.tree.placeOf(board.node), { ...board.tags });
  return true;
}

const SIMULATIONS = 200;

export function Nets() {
  const { watch } = useApp();
  const [other, setOther] = useState(null); // iteration of the net that the next one is compared with
  const rows = new Map(watch.metrics.rows.map((row) => [row.iteration, row]));
  const nets = [...watch.metrics.nets].reverse();
  return html`<section class="run-list">
    <table aria-label="Nets">
      <thead><tr><th scope="col">net of</th><th scope="col" class="number">Elo</th><th scope="col" class="number">gate</th><th scope="col"><span class="hidden">what to do</span></th></tr></thead>
      <tbody>${nets.map((net) => {
        const row = rows.get(net.iteration);
        const isOwn = net === watch.net;
        return html`<tr key=${net.iteration} class=${isOwn ? "current" : ""}>
          <th scope="row"><button class="row-button" aria-current=${isOwn ? "true" : null} onClick=${() => watch.chooseIteration(net.iteration)}>${net.iteration === 0 ? "the start" : `iteration ${net.iteration}`}</button></th>
          <td class="number">${net.iteration === 0 ? 0 : row ? formatCount(row["gate/rating"] ?? 0) : ""}</td>
          <td class="number">${Number.isFinite(row?.["gate/score"]) ? `${Math.round(100 * row["gate/score"])}%` : "–"}</td>
          <td class="acts">
            <button class="quiet" onClick=${() => playNet(watch, net)}>Play</button>
            <button class="quiet" onClick=${() => analyseNets(watch, [net])}>Analyse</button>
            ${
              other === null
                ? html`<button class="quiet" onClick=${() => setOther(net.iteration)}>Compare …</button>`
                : other === net.iteration
                  ? html`<button class="quiet" onClick=${() => setOther(null)}>Cancel</button>`
                  : html`<button onClick=${() => analyseNets(watch, [nets.find((each) => each.iteration === other), net])}>with ${other}</button>`
            }
          </td>
        </tr>`;
      })}</tbody>
    </table>
  </section>`;
}

/** Adds a net to the agents that the other views know; returns its id. */
async function offer(app, net) {
  await app.session.addAgent(net.agent);
  return net.agent;
}

/** The user plays a new game against a net. */
export const playNet = (watch, net) => playAgainst(watch, net).catch(watch.app.fail);

async function playAgainst(watch, net) {
  const { app } = watch;
  const { beginGame } = await import("../play/game.js");
  if (!(await takeGame(watch))) return;
  const agent = await offer(app, net);
  await beginGame(app, [{ kind: "human" }, { kind: "agent", agent, level: null, simulations: SIMULATIONS }], null);
}

/** One net analyses the position on the board, or two side by side. */
const analyseNets = (watch, nets) => analyse(watch, nets).catch(watch.app.fail);

async function analyse(watch, nets) {
  const { app } = watch;
  const { analystOf } = await import("../analyse/analyst.js");
  if (!(await takeToViews(watch))) return;
  const [first, second = null] = await Promise.all(nets.map((net) => offer(app, net)));
  analystOf(app.session).set({ first, second });
  app.setAgent(first);
  app.setView("analyse");
}
