// Watch a run: its curves, its newest self-play games, and what its nets think of a position.

import { html, useEffect } from "../../html.js";
import { useKeys } from "../../keys.js";
import { formatScore, nameOf } from "../../score.js";
import { Icon } from "../../shell/icons.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { Charts } from "./Charts.js";
import { Games } from "./Games.js";
import { Opinions } from "./Opinions.js";
import { Watch } from "./watch.js";

export function Runs({ session, app }) {
  app.watch ??= new Watch(app);
  const { watch } = app;
  useEffect(() => {
    watch.start();
    return () => watch.stop();
  }, []);
  useRunKeys(watch, session);
  if (!session.position) return null;
  const thought = watch.thought();
  return html`
    <${Stage} session=${session} app=${app} overlay=${overlayOf(thought, session)} />
    <${PanelFrame} label="Run" bar=${watch.metrics && html`<${RunBar} ...${{ watch, session, app, thought }} />`}>
      ${watch.runs === null ? html`<p class="detail">Looking for runs …</p>` : watch.run ? html`<${Run} ...${{ watch, session, thought }} />` : html`<${NoRuns} runs=${watch.runs} />`}
    </${PanelFrame}>`;
}

const NoRuns = ({ runs }) => html`<div class="card">
  <strong>No run is offered.</strong>
  <p class="detail">Start the server with a run's folder, or a folder of runs: <code>azero serve --runs runs</code></p>
  ${runs.filter(({ problem }) => problem).map(({ name, problem }) => html`<p class="problem">${name}: ${problem}</p>`)}
</div>`;

function Run({ watch, session, thought }) {
  const { runs, run, metrics } = watch;
  return html`
    <div class="run-head">
      <select aria-label="Run" value=${run.id} onChange=${(event) => watch.choose(runs.find(({ id }) => id === event.target.value))}>
        ${runs.filter(({ problem }) => !problem).map(({ id, name }) => html`<option value=${id} selected=${id === run.id}>${name}</option>`)}
      </select>
      ${metrics && html`<span class="run-state state-${metrics.state}">${metrics.state}</span>`}
      ${metrics && html`<span class="detail end">iteration ${watch.last} of ${metrics.iterations} · ${ago(metrics.updated_s)}</span>`}
    </div>
    ${metrics?.state === "stopped" && html`<p class="detail">It goes on by <code>${metrics.resume}</code></p>`}
    ${metrics ? html`<${Charts} watch=${watch} />` : html`<p class="detail">Reading the run …</p>`}
    ${thought && html`<${Thought} thought=${thought} session=${session} />`}
    ${metrics && html`<${Opinions} watch=${watch} session=${session} />`}
    ${metrics && html`<${Games} watch=${watch} session=${session} />`}`;
}

/** One line: the move that was played here, and both values for a named player. */
function Thought({ thought, session }) {
  const first = nameOf(session.game, 0);
  const net = thought.net_value === null ? "" : `, its net ${formatScore(thought.net_value, 0)} %`;
  const proven = thought.proven === null ? "" : ` (proven ${["loss", "draw", "win"][thought.proven + 1]})`;
  return html`<p class="thought">
    <strong>${thought.move}</strong> was played. For ${first}, the search says ${formatScore(thought.value, 0)} %${proven}${net}.
    ${!thought.is_learned && html`<span class="detail"> A fast search; training does not draw it.</span>`}
  </p>`;
}

/** Bars above columns; on other boards the search's policy as marks. */
function overlayOf(thought, session) {
  if (!thought) return {};
  const { picture } = session.position;
  const policy = thought.policy ?? {};
  if (picture.drops) {
    return { bars: picture.actions.map(({ move, cells }) => ({ cell: cells[0], prior: thought.prior?.[move] ?? null, policy: policy[move] ?? 0 })) };
  }
  const ranked = picture.actions.filter(({ move }) => policy[move] > 0.01).sort((a, b) => policy[b.move] - policy[a.move]);
  return {
    marks: ranked.slice(0, 8).map(({ move, cells }, k) => ({ cells, text: String(Math.round(100 * policy[move])), share: policy[move], kind: k ? "other" : "best" })),
    hidesTargets: true,
  };
}

function RunBar({ watch, session, app, thought }) {
  const { agent } = watch;
  const withNet = (view) => async () => {
    await session.refreshAgents();
    app.setAgent(agent);
    app.setView(view);
  };
  return html`
    <${Steps} session=${session} />
    <span class="detail">ply ${session.ply}${watch.game ? ` of ${watch.game.moves.length}` : ""}</span>
    ${thought && html`<span class="legend"><i class="outline"></i>prior <i class="solid"></i>search</span>`}
    <button class="end" disabled=${!agent} onClick=${withNet("analyse")}>Analyse</button>
    <button disabled=${!agent} onClick=${() => playNet(watch, session, app)}>Play this net</button>
    <button disabled=${!agent} onClick=${() => cleanGame(watch, session, app)}>Clean game</button>`;
}

const Steps = ({ session }) => html`<span class="stepper">
  <button class="icon-button" aria-label="First" onClick=${session.first}><${Icon} name="first" /></button>
  <button class="icon-button" aria-label="Back" onClick=${session.back}><${Icon} name="back" /></button>
  <button class="icon-button" aria-label="Forward" onClick=${session.forward}><${Icon} name="forward" /></button>
  <button class="icon-button" aria-label="Last" onClick=${session.last}><${Icon} name="last" /></button>
</span>`;

const SIMULATIONS = 200;

async function playNet(watch, session, app) {
  const { beginGame } = await import("../play/game.js");
  await session.refreshAgents();
  await beginGame(app, [{ kind: "human" }, { kind: "agent", agent: watch.agent, level: null, simulations: SIMULATIONS }], null);
}

/** The net plays itself without noise and random openings. */
async function cleanGame(watch, session, app) {
  const { beginGame } = await import("../play/game.js");
  await session.refreshAgents();
  const player = { kind: "agent", agent: watch.agent, level: null, simulations: SIMULATIONS };
  await beginGame(app, [player, { ...player }], null);
}

function useRunKeys(watch, session) {
  const game = (step) => () => {
    const at = watch.games.findIndex(({ id }) => id === watch.game?.id);
    const next = watch.games[at + step];
    if (next) watch.show(next.id);
  };
  useKeys({
    "[": ["earlier iteration", () => watch.chooseIteration(watch.chosen - 1)],
    "]": ["later iteration", () => watch.chooseIteration(watch.chosen + 1)],
    ",": ["newer game", game(-1)],
    ".": ["older game", game(1)],
    arrowleft: ["back", () => session.back()],
    arrowright: ["forward", () => session.forward()],
    k: ["back", () => session.back()],
    j: ["forward", () => session.forward()],
    home: ["first move", () => session.first()],
    end: ["last move", () => session.last()],
  });
}

function ago(seconds) {
  const passed = Date.now() / 1000 - seconds;
  if (passed < 90) return `${Math.max(0, Math.round(passed))} s ago`;
  if (passed < 5400) return `${Math.round(passed / 60)} min ago`;
  return passed < 129_600 ? `${Math.round(passed / 3600)} h ago` : `${Math.round(passed / 86_400)} days ago`;
}
