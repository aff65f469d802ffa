// Learn how it thinks: a search, one simulation at a time, on the board and in the tree.

import { html, useApp, useChanges, useEffect, useState } from "../../html.js";
import { useKeys } from "../../keys.js";
import { Icon } from "../../shell/controls.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { Details } from "./Details.js";
import { useLesson } from "./lesson.js";
import { TreeView } from "./TreeView.js";
import { boardOf, DEFINITIONS, meaningOf, plain, stepText, titleOf } from "./words.js";

const METHODS = [
  ["uct", "UCT", "Plain Monte-Carlo tree search: random games judge the positions"],
  ["puct", "PUCT", "The search of AlphaZero: a net judges the positions and says which moves it would play"],
];

function Choices() {
  const app = useApp();
  const { session } = app;
  const lesson = useLesson();
  const chosen = completed(app);
  const set = (change) => {
    app.learn = { ...app.learn, ...change };
    app.changed();
  };
  const { method, agent, nets, seed } = chosen;
  const [typed, setTyped] = useState(null); // a constant that is not taken yet: what arrives meanwhile leaves it alone
  const own = lesson.rule?.c ?? lesson.rule?.c_puct;
  return html`<div class="learn-choices">
    <span class="choice methods" role="group" aria-label="Method">${METHODS.map(
      ([id, name, about]) => html`<button
      aria-pressed=${String(id === method)}
      title=${id === "puct" && !nets.length ? "No net plays this game" : about}
      disabled=${id === "puct" && !nets.length}
      onClick=${() => set({ method: id, c: null })}
    >${name}</button>`,
    )}</span>
    ${
      nets.length > 1 &&
      method === "puct" &&
      html`<select aria-label="Net" value=${agent} onChange=${(event) => app.setAgent(event.target.value)}>
      ${nets.map(({ id, title }) => html`<option value=${id} selected=${id === agent}>${title}</option>`)}
    </select>`
    }
    <label class="constant" title="How much it explores: 0 is not at all">explore <var>c</var>
      <input type="number" min="0" max="10" step="0.1" value=${typed ?? chosen.c ?? (own === undefined ? "" : plain(own))} onInput=${(event) => setTyped(event.target.value)}
        onChange=${(event) => set({ c: numberOf(event.target.value) })} onBlur=${() => setTyped(null)} />
    </label>
    <button class="quiet" title=${`Random numbers of seed ${seed}`} onClick=${() => set({ seed: seed + 1 })}>Seed ${seed}</button>
    <span class="root-place" title="Choose the position in Play or Analyse">root: ${session.ply ? `after ${session.ply} ${session.ply === 1 ? "move" : "moves"}` : "the start"}</span>
    <p class="about">${lesson.step && DEFINITIONS[method][lesson.step.phase]}</p>
  </div>`;
}

/** A constant that the server takes; null, for its own, if the text is none. */
function numberOf(text) {
  const number = Number(text);
  return text.trim() === "" || !Number.isFinite(number) ? null : Math.min(10, Math.max(0, number));
}

const STEP_MS = 1400;

export function Learn() {
  const app = useApp();
  const { session } = app;
  const lesson = useChanges(useLesson());
  const [isPlaying, setPlaying] = useState(false);
  const chosen = completed(app);
  const { game } = session;
  const isOver = session.isSettled && session.position.to_move === null;
  const key = JSON.stringify([game?.id, session.moves, chosen, session.isSettled, isOver]);

  useEffect(() => {
    setPlaying(false);
    lesson.positions.clear();
    if (session.isSettled && !isOver) begin(lesson, wantedOf(session, chosen), app);
    else lesson.clear();
  }, [key]);
  useEffect(() => () => lesson.clear(), []);
  useEffect(() => {
    if (!lesson.place) return;
    app.learn.place = lesson.place;
    app.changed(); // and with it the link
  }, [lesson.place]);

  const act = async (move) => {
    lesson.inspect(null);
    await move();
    if (lesson.step) app.announce(stepText(lesson));
  };
  useAutomatic(lesson, isPlaying, setPlaying);
  const actions = actionsOf(lesson, act, isPlaying, setPlaying);
  useLearnKeys(actions);
  if (!session.position) return null;

  return html`
    <${Stage} ...${boardOf(lesson)} isInteractive=${false} />
    <${PanelFrame} label="Learn how it thinks" bar=${html`<${Buttons} ...${{ actions, isPlaying }} />`}>
      <${Choices} />
      ${isOver ? html`<p class="says card">The game is over in this position, so there is nothing to search. Go back a few moves in Play or Analyse, or begin a new game.</p>` : html`<${Body} />`}
    </${PanelFrame}>`;
}

/** What is chosen, with defaults: UCT, also where a net plays this game. */
function completed({ session, learn, agent: preferred }) {
  const { method: wanted, c, seed } = learn;
  const nets = session.agents.filter(({ kind }) => kind === "net");
  const agent = (nets.find(({ id }) => id === preferred) ?? nets[0])?.id ?? null;
  const method = wanted === "puct" && agent ? "puct" : "uct";
  return { method, agent: method === "puct" ? agent : null, c, seed, nets };
}

/** Begins at the place of the link, or where this search was left; another search begins at its first step. */
function begin(lesson, wanted, app) {
  const key = JSON.stringify(wanted);
  const { place, key: known = key } = app.learn;
  Object.assign(app.learn, { key, place: null });
  lesson.begin(wanted, known === key ? place : null);
}

function wantedOf(session, { method, agent, c, seed }) {
  const wanted = { game: session.game.id, moves: session.moves, method, seed };
  if (agent) wanted.agent = agent;
  if (c !== null) wanted.c = c;
  return wanted;
}

function Body() {
  const lesson = useLesson();
  const { current, step, error, inspected } = lesson;
  if (error) return html`<p class="says problem" role="alert">${error.message}</p>`;
  if (!step) return html`<${Waiting} method=${lesson.method} />`;
  const meaning = inspected ? "" : meaningOf(lesson);
  return html`
    <${Phases} />
    <${TreeView} />
    <p class="tree-note">In a circle: visits N. Below it: Q for ${lesson.names[0]}, from −1 to +1.${meaning && ` On the board: ${meaning}.`}${inspected && html` <button class="linked" onClick=${() => lesson.inspect(null)}>Back to the simulation</button>`}</p>
    <section class="details" aria-label=${titleOf(step.phase, lesson.method)}>
      <${Details} />
      ${lesson.isOver && html`<p class="says card">${lesson.ended === "proven" ? "The root is proven, so the search is over." : `This lesson ends after ${current.number} simulations.`}</p>`}
    </section>`;
}

/** What is waited for, and for how long it has been. */
function Waiting({ method }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const what =
    method === "puct"
      ? "Loading the net, and compiling the search if this is its first time"
      : "Searching, and compiling the game if this is its first time";
  return html`<p class="says" role="status">${what} …</p>
    ${seconds > 1 && html`<p class="aside">${seconds} s${method === "puct" ? "; about 5 s for a net, up to a minute to compile" : ""}</p>`}`;
}

/** The four phases, the current one marked; a click goes to its first step. */
function Phases() {
  const lesson = useLesson();
  const { steps, step, method } = lesson;
  return html`<div class="phases">
    <ol>${["select", "expand", "evaluate", "backup"].map((phase) => {
      const first = steps.findIndex((each) => each.phase === phase);
      const inPhase = steps.filter((each) => each.phase === phase).length;
      const isNow = step.phase === phase;
      const place = isNow && inPhase > 1 ? `${lesson.stepAt - first + 1}/${inPhase}` : "";
      return html`<li><button class="phase" aria-current=${isNow ? "step" : null} disabled=${first < 0} onClick=${() => lesson.show(lesson.at, first)}>${titleOf(phase, method)}${place && html`<small>${place}</small>`}</button></li>`;
    })}</ol>
    <span class="which">Simulation <b>${lesson.current.number}</b></span>
  </div>`;
}

function actionsOf(lesson, act, isPlaying, setPlaying) {
  const by = (move) => () => {
    setPlaying(false);
    return act(move);
  };
  return {
    next: by(() => lesson.next()),
    back: by(() => lesson.back()),
    nextSimulation: by(() => lesson.nextSimulation(0)),
    previousSimulation: by(() => lesson.previousSimulation()),
    first: by(() => lesson.first()),
    last: by(() => lesson.last()),
    runTen: by(() => lesson.run(10)),
    toggle: () => setPlaying(!isPlaying),
  };
}

function Buttons({ actions, isPlaying }) {
  const lesson = useLesson();
  const isAtStart = lesson.at === 0 && lesson.stepAt === 0;
  const isDone = !lesson.step || lesson.isOver;
  return html`
    <button class="quiet icon-button" aria-label="First step" title="First step (Home)" disabled=${isAtStart} onClick=${actions.first}><${Icon} name="first" /></button>
    <button class="quiet icon-button" aria-label="Back" title="Back (←)" disabled=${isAtStart} onClick=${actions.back}><${Icon} name="back" /></button>
    <button class="primary" disabled=${isDone} title="Next phase (→)" onClick=${actions.next}><${Icon} name="forward" />Step</button>
    <button disabled=${isDone} title="Next simulation (N)" onClick=${actions.nextSimulation}>Next simulation</button>
    <button disabled=${isDone} title="Run ten simulations (T)" onClick=${actions.runTen}>Run 10</button>
    <button class="quiet end" aria-pressed=${String(isPlaying)} disabled=${isDone && !isPlaying} title="Play on (Space)" onClick=${actions.toggle}><${Icon} name=${isPlaying ? "pause" : "play"} />${isPlaying ? "Pause" : "Play on"}</button>`;
}

/** Goes on by itself, step by step. */
function useAutomatic(lesson, isPlaying, setPlaying) {
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(async () => (await lesson.next()) || setPlaying(false), STEP_MS);
    return () => clearInterval(timer);
  }, [isPlaying]);
}

function useLearnKeys(actions) {
  useKeys({
    arrowright: ["next phase", () => void actions.next()],
    arrowleft: ["one step back", () => void actions.back()],
    j: ["next phase", () => void actions.next()],
    k: ["one step back", () => void actions.back()],
    n: ["next simulation", () => void actions.nextSimulation()],
    p: ["previous simulation", () => void actions.previousSimulation()],
    t: ["run ten simulations", () => void actions.runTen()],
    space: ["play on, or pause", () => void actions.toggle()],
    home: ["first step", () => void actions.first()],
    end: ["last simulation so far", () => void actions.last()],
  });
}
