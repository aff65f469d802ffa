// Watch a run: its curves, its newest self-play games, and what its nets think of a position.

import { html, useApp, useEffect, useState } from "../../html.js";
import { stepKeys, useKeys } from "../../keys.js";
import { formatCount } from "../../score.js";
import { Icon, radio, radioKeys } from "../../shell/controls.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { Charts } from "./Charts.js";
import { Games, overlayOf, Thought } from "./Games.js";
import { Nets, OpinionsOfNets, playNet } from "./Nets.js";
import { Watch } from "./watch.js";

function RunHead() {
  const { watch } = useApp();
  const { run, metrics, usable, runs } = watch;
  const hidden = runs.filter(({ problem }) => problem);
  return html`
    <div class="run-head">
      <select aria-label="Run" value=${run.id} onChange=${(event) => watch.choose(usable.find(({ id }) => id === event.target.value))}>
        ${usable.map(({ id, name }) => html`<option value=${id} selected=${id === run.id}>${name}</option>`)}
      </select>
      ${metrics && html`<span class="run-state state-${metrics.state}">${metrics.state}</span><span class="detail end">${whatItDoes(metrics, watch.last).map((line) => html`<span>${line}</span>`)}</span>`}
    </div>
    ${metrics?.state === "stopped" && html`<p class="detail resume">It goes on by <code>${metrics.resume}</code></p>`}
    ${hidden.map(({ id, problem }) => html`<p class="problem" key=${id}>${problem}</p>`)}`;
}

const WORDS = { train: "learning", gate: "playing the gate" };

/** One line or two. */
function whatItDoes({ state, activity, iterations, updated_s: age }, last) {
  if (state !== "training" || !activity) return [`iteration ${last} of ${iterations} · ${ago(age)}`];
  const { iteration, stage, games, games_wanted: wanted } = activity;
  const stageText = WORDS[stage] ?? `playing ${formatCount(games)} of ${formatCount(wanted)}`;
  return [`iteration ${iteration} of ${iterations}`, `${stageText} · ${ago(age)}`];
}

function ago(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 129_600 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}

export function Runs() {
  const app = useApp();
  app.watch ??= new Watch(app);
  const { watch } = app;
  const session = watch.board;
  useEffect(() => {
    watch.start();
    return () => watch.stop();
  }, []);
  useRunKeys(watch);
  if (!session.position) return null;
  return html`
    <${Stage} overlay=${session.isSettled ? overlayOf(watch.thought, watch.prior, session.position) : {}} />
    <${PanelFrame} label="Run" bar=${watch.metrics && watch.isOfRun && html`<${RunBar} />`}><${Body} /></${PanelFrame}>`;
}

function Body() {
  const { watch } = useApp();
  const [list, setList] = useState("games");
  if (watch.runs === null) return html`<p class="detail">Looking for runs …</p>`;
  if (!watch.run) return html`<${NoRuns} runs=${watch.runs} />`;
  if (!watch.isOfRun) {
    const other = watch.usable.find(({ sizes }) => sizes.includes(watch.board.game.id));
    return html`<${RunHead} />
      <div class="card"><strong>This run plays another game than the one on the board.</strong>
        <p class="row">
          <button onClick=${() => watch.choose(watch.run)}>Show the run's game</button>
          ${other && html`<button onClick=${() => watch.choose(other)}>Watch ${other.name}</button>`}
        </p></div>`;
  }
  if (!watch.metrics) return html`<${RunHead} /><p class="detail">Reading the run …</p>`;
  return html`
    <${RunHead} />
    <${Charts} />
    <${Thought} />
    <${OpinionsOfNets} />
    <div class="lists" role="radiogroup" aria-label="List" onKeyDown=${radioKeys}>
      <button class="quiet" ...${radio(list === "games")} onClick=${() => setList("games")}>Self-play games</button>
      <button class="quiet" ...${radio(list === "nets")} onClick=${() => setList("nets")}>Nets</button>
      <button class="quiet end" onClick=${() => (watch.clean?.isPlaying ? watch.clean.stop() : watch.playClean())}>${watch.clean?.isPlaying ? "Stop" : "Play a clean game"}</button>
    </div>
    ${list === "games" ? html`<${Games} />` : html`<${Nets} />`}`;
}

const NoRuns = ({ runs }) => html`<div class="card">
  <strong>${runs.length ? "No run can be shown." : "No run is offered."}</strong>
  <p class="detail">Start the server with a run's folder, or a folder of runs: <code>azero serve --runs runs</code></p>
  ${runs.map(({ problem }) => html`<p class="problem">${problem}</p>`)}
</div>`;

function RunBar() {
  const { watch } = useApp();
  const { board: session, game, net, thought, prior } = watch;
  return html`
    <span class="stepper">
      ${STEPS.map(([text, name]) => html`<button class="quiet icon-button" aria-label=${text} onClick=${() => session[name]()}><${Icon} name=${name} /></button>`)}
    </span>
    <span class="detail">ply ${session.ply}${watch.isOnGame ? ` of ${game.moves.length}` : ""}</span>
    <span class="legend end">
      ${session.position.picture.drops ? html`<${Legend} />` : prior && `${thought?.policy ? "search, below it " : ""}prior ${net?.iteration ?? ""}`}
    </span>
    <button disabled=${!net} onClick=${() => playNet(watch, net)}>Play this net</button>`;
}

function Legend() {
  const { prior, net, thought } = useApp().watch;
  return [
    prior && html`<i class="outline"></i>prior ${net?.iteration ?? ""}`,
    thought?.policy && html`<i class="solid"></i>search`,
  ];
}

const STEPS = [
  ["First", "first"],
  ["Back", "back"],
  ["Forward", "forward"],
  ["Last", "last"],
];

function useRunKeys(watch) {
  const session = watch.board;
  const game = (step) => () => {
    const { games } = watch.list;
    const at = games.findIndex(({ id }) => id === watch.game?.id);
    const next = games[at + step];
    if (next) watch.show(next.id);
  };
  const iteration = (step) => () => watch.metrics && watch.chooseIteration(watch.chosen + step);
  useKeys({
    "[": ["earlier iteration", iteration(-1)],
    "]": ["later iteration", iteration(1)],
    ",": ["newer game", game(-1)],
    ".": ["older game", game(1)],
    ...stepKeys(session),
  });
}
