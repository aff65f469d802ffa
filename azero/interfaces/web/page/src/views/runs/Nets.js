// The nets of a run: play, analyse, compare two.

import { html, useState } from "../../html.js";
import { formatCount } from "../../score.js";
import { takeGame, takeToViews } from "./taking.js";

const SIMULATIONS = 200;

export function Nets({ watch, app }) {
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
            <button class="quiet" onClick=${() => playNet({ watch, app }, net)}>Play</button>
            <button class="quiet" onClick=${() => analyseNets({ watch, app }, [net])}>Analyse</button>
            ${other === null
              ? html`<button class="quiet" onClick=${() => setOther(net.iteration)}>Compare …</button>`
              : other === net.iteration
                ? html`<button class="quiet" onClick=${() => setOther(null)}>Cancel</button>`
                : html`<button onClick=${() => analyseNets({ watch, app }, [nets.find((each) => each.iteration === other), net])}>with ${other}</button>`}
          </td>
        </tr>`;
      })}</tbody>
    </table>
  </section>`;
}

/** Adds a net to the agents that the other views know; returns its id. */
async function offer({ app }, net) {
  await app.session.addAgent(net.agent);
  return net.agent;
}

/** The user plays a new game against a net. */
export const playNet = (parts, net) => playAgainst(parts, net).catch(parts.app.fail);

async function playAgainst(parts, net) {
  const { beginGame } = await import("../play/begin.js");
  if (!(await takeGame(parts.watch))) return;
  const agent = await offer(parts, net);
  await beginGame(parts.app, [{ kind: "human" }, { kind: "agent", agent, level: null, simulations: SIMULATIONS }], null);
}

/** One net analyses the position on the board, or two side by side. */
const analyseNets = (parts, nets) => analyse(parts, nets).catch(parts.app.fail);

async function analyse(parts, nets) {
  const { app, watch } = parts;
  const { analystOf } = await import("../analyse/analyst.js");
  if (!(await takeToViews(watch))) return;
  const [first, second = null] = await Promise.all(nets.map((net) => offer(parts, net)));
  analystOf(app.session).set({ first, second });
  app.setAgent(first);
  app.setView("analyse");
}
