// The dialog of a new game: opponent, level, side, clock, board; or the two agents that play each other.

import { html, useApp, useState } from "../../html.js";
import { published } from "../../published.js";
import { settings } from "../../settings.js";
import { Dialog, radio, radioKeys, Stone } from "../../shell/controls.js";
import { beginGame } from "./game.js";

const AgentPicker = ({
  label,
  choice,
}) => html`<select aria-label=${label} value=${choice.agent?.id} onChange=${(event) => choice.setAgent(event.target.value)}>
  ${choice.opponents.map((each) => html`<option value=${each.id} selected=${each.id === choice.agent?.id}>${each.title}</option>`)}
</select>`;

const SimulationsPicker = ({
  label,
  choice,
}) => html`<select aria-label=${label} value=${choice.simulations} onChange=${(event) => choice.setSimulations(Number(event.target.value))}>
  ${SIMULATIONS.map((number) => html`<option value=${number} selected=${number === choice.simulations}>${number} simulations a move</option>`)}
</select>`;

/** An agent and its level, or its simulations, side by side. */
function PlayerPicker({ label, choice }) {
  const { agent, level } = choice;
  const strength = agent.levels
    ? html`<select aria-label="${label}: level" value=${String(level)} onChange=${(event) => choice.setLevel(Number(event.target.value) || event.target.value)}>
        ${agent.levels.map((each) => html`<option value=${each.level} selected=${each.level === level}>Level ${each.level}, ${each.name}</option>`)}
        ${agent.adaptive && html`<option value="adaptive" selected=${level === "adaptive"}>${agent.adaptive.name}</option>`}
      </select>`
    : agent.kind !== "random" && html`<${SimulationsPicker} label="${label}: simulations a move" choice=${choice} />`;
  return html`<${AgentPicker} label=${label} choice=${choice} />${strength}`;
}

function Levels({ agent, level, onLevel }) {
  const { levels, anchors } = agent;
  const chosen = level === "adaptive" ? agent.adaptive : levels.find((each) => each.level === level);
  const isRated = levels.every((each) => each.elo !== null && each.elo !== undefined);
  const elos = levels.map((each) => (isRated ? each.elo : 100 * each.level));
  const most = Math.max(...elos, 1);
  const part = (elo) => Math.max(0, elo) / most; // of the height
  const anchor = isRated && anchors?.find(({ name, elo }) => name !== "random" && elo > 0 && elo < most);
  return html`<div class="levels">
    <p class="levels-head">
      <strong>${level === "adaptive" ? chosen.name : `Level ${level}, ${chosen.name}`}</strong>
      <span class="detail">${!isRated ? "not yet measured: the bars tell only the order" : level === "adaptive" ? "not yet measured" : source(chosen)}</span>
    </p>
    <div class="bars" role="radiogroup" aria-label="Level" onKeyDown=${radioKeys}>
      ${anchor && html`<span class="anchor" style=${{ "--part": part(anchor.elo) }}></span>`}
      ${levels.map(
        (
          each,
          k,
        ) => html`<button ...${radio(each.level === level, level === "adaptive" && k === 0)} class="level" onClick=${() => onLevel(each.level)}>
        ${isRated && html`<small>${format(each.elo)}<span class="hidden"> Elo, </span></small>`}
        <span class="level-bar" style=${{ "--part": part(elos[k]) }}></span>
        <span><span class="hidden">Level </span>${each.level}<span class="hidden">, ${each.name}</span></span>
      </button>`,
      )}
    </div>
    ${anchor && html`<p class="anchor-text"><span class="anchor-key" aria-hidden="true"></span>${anchor.name} has ${format(anchor.elo)}</p>`}
    <p class="level-text">${chosen.text}</p>
    ${agent.adaptive && html`<label class="check"><input type="checkbox" checked=${level === "adaptive"} onChange=${(event) => onLevel(event.target.checked ? "adaptive" : firstLevel(levels))} /> Adapt to how I play</label>`}
  </div>`;
}

const format = (elo) => Math.round(elo).toLocaleString("en-US");

function source({ elo, elo_ci95: interval, games }) {
  const half = interval ? `, ± ${Math.round((interval[1] - interval[0]) / 2)}` : "";
  return `${format(elo)} Elo above random${half}, ${games} games`;
}

const OTHER = "other";
const UNASKED = ["max_game_length"];

/** `board` is the id of the chosen game; `onBoard` gets another one. */
function BoardField({ board, onBoard }) {
  const { session } = useApp();
  const [values, setValues] = useState(null); // the parameters of another size
  const { game } = session;
  const names = namesOf(game);
  const change = (next) => {
    setValues(next);
    onBoard(next ? idOf(game, next) : game.id);
  };
  const pick = (id) => {
    change(id === OTHER ? Object.fromEntries(names.map((name) => [name, game.parameters[name]])) : null);
    if (id !== OTHER) onBoard(id);
  };
  return html`<select aria-label="Board" onChange=${(event) => pick(event.target.value)}>
      ${boardsOf(session).map((each) => html`<option value=${each.id} selected=${!values && each.id === board}>${each.subtitle || each.title}</option>`)}
      ${names.length > 0 && html`<option value=${OTHER} selected=${values !== null}>Another size …</option>`}
    </select>
    ${values && html`<span class="board-values">${names.map((name) => html`<${Value} name=${name} value=${values[name]} range=${game.ranges[name]} onValue=${(value) => change({ ...values, [name]: value })} />`)}</span>`}`;
}

function Value({ name, value, range, onValue }) {
  const text = name.replaceAll("_", " ");
  if (typeof value === "boolean")
    return html`<label class="check"><input type="checkbox" checked=${value} onChange=${(event) => onValue(event.target.checked)} /> ${text}</label>`;
  const [low, high] = range;
  const step = name === "komi" ? 0.5 : 1;
  return html`<label>${text} <input type="number" min=${low} max=${high} step=${step} title="${low} to ${high}" value=${value} onInput=${(event) => event.target.value && onValue(event.target.value)} /></label>`;
}

function boardsOf({ games, game }) {
  const family = games.filter((each) => each.family === game.family);
  return family.some((each) => each.id === game.id) ? family : [game, ...family];
}

/** The parameters that can be chosen: numbers within a range, and yes or no. A file has one game. */
function namesOf(game) {
  if (published) return [];
  const isAsked = ([name, value]) =>
    !UNASKED.includes(name) && (name in game.ranges || (!game.is_own && typeof value === "boolean"));
  return Object.entries(game.parameters)
    .filter(isAsked)
    .map(([name]) => name);
}

/** "go(size=13,komi=6.5)" */
const idOf = (game, values) =>
  `${game.family}(${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(",")})`;

const SIMULATIONS = [10, 50, 100, 200, 400, 1000, 5000];
const FIRST_LEVEL = 2;

/** The agents that can play, the game's own nets first. */
function opponentsOf(session) {
  const order = { net: 0, uct: 1 };
  return [...session.agents].sort((a, b) => (order[a.kind] ?? 2) - (order[b.kind] ?? 2));
}

/** The players of a game that begins by itself: a human on the side to move, and the game's own agent. */
export function openingPlayers(session) {
  const human = { kind: "human" };
  const [agent] = opponentsOf(session);
  const opponent = agent ? asPlayer(agent, agent.levels && firstLevel(agent.levels), 100) : human;
  return session.position?.to_move === 1 ? [opponent, human] : [human, opponent];
}

/** The choice of one agent. `current`: the player whose agent and strength it begins with, if there is one. */
function useAgent(session, current) {
  const opponents = opponentsOf(session);
  const [id, setAgent] = useState(current?.agent ?? opponents[0]?.id);
  const [wanted, setLevel] = useState(current?.level ?? null);
  const [simulations, setSimulations] = useState(current?.simulations ?? 100);
  const agent = opponents.find((each) => each.id === id) ?? opponents[0];
  const level = agent?.levels && (wanted === null ? firstLevel(agent.levels) : fit(wanted, agent.levels));
  return {
    opponents,
    agent,
    level,
    simulations,
    setAgent,
    setLevel,
    setSimulations,
    player: agent && asPlayer(agent, level, simulations),
  };
}

/** The level at which a new player begins: never full strength, which is the last one. */
const firstLevel = (levels) => Math.min(FIRST_LEVEL, Math.max(1, levels.length - 1));

/** The level itself, or the agent's highest one if it has fewer levels. */
const fit = (level, levels) => (level === "adaptive" ? level : Math.min(level, levels.length));

const asPlayer = (agent, level, simulations) => ({
  kind: "agent",
  agent: agent.id,
  level,
  simulations: level || agent.kind === "random" ? null : simulations,
});

const CLOCKS = [null, { minutes: 1, increment: 2 }, { minutes: 5, increment: 3 }, { minutes: 15, increment: 10 }];
const HUMAN = { kind: "human" };

export function NewGame() {
  const app = useApp();
  const { session } = app;
  const agents = app.play?.players.filter((player) => player.kind === "agent") ?? [];
  const [isOfAgents, setOfAgents] = useState(false);
  const first = useAgent(session, agents[0]); // also the opponent of a human
  const second = useAgent(session, agents[1] ?? agents[0]);
  const [side, setSide] = useState("first");
  const [clock, setClock] = useState(0);
  const [board, setBoard] = useState(session.game.id);
  const [problem, setProblem] = useState(""); // why there is no such board

  const start = async (players) => {
    try {
      if (board !== session.game.id) await app.openGame(board);
      app.closeDialog();
      const known = (player) => player.kind === "human" || session.agents.some(({ id }) => id === player.agent);
      const fitting = players.every(known) ? players : swapIf(openingPlayers(session), players[1].kind === "human");
      await beginGame(app, fitting, CLOCKS[clock]);
    } catch (error) {
      setProblem(error.message);
    }
  };
  const startChosen = () => {
    if (isOfAgents) return start([first.player, second.player]);
    const isFirst = side === "first" || (side === "either" && Math.random() < 0.5);
    return start(swapIf([HUMAN, first.player], !isFirst));
  };

  const stone = (player) => html`<${Stone} player=${player} />`;
  return html`<${Dialog} title=${isOfAgents ? "New game of two agents" : "New game"} footer=${html`
    <button class="quiet" onClick=${() => start([HUMAN, HUMAN])}>Two people</button>
    <button class="quiet" disabled=${!first.agent} onClick=${() => setOfAgents(!isOfAgents)}>${isOfAgents ? "One agent" : "Two agents"}</button>
    <button class="primary" disabled=${!first.agent} onClick=${startChosen}>Start</button>`}>
    ${
      isOfAgents
        ? html`<${Field} label=${html`${stone(0)} First`}><${PlayerPicker} label="First" choice=${first} /></${Field}>
          <${Field} label=${html`${stone(1)} Second`}><${PlayerPicker} label="Second" choice=${second} /></${Field}>`
        : html`${
            first.level
              ? html`<${Levels} agent=${first.agent} level=${first.level} onLevel=${first.setLevel} />`
              : first.agent?.kind !== "random" &&
                html`<${Field} label="Strength"><${SimulationsPicker} label="Simulations a move" choice=${first} /></${Field}>`
          }
          <${Field} label="Opponent"><${AgentPicker} label="Opponent" choice=${first} /></${Field}>
          <${Field} label="You play"><${Choice} label="Side" value=${side} onPick=${setSide} options=${[
            ["first", html`${stone(0)} First`],
            ["second", html`${stone(1)} Second`],
            ["either", "Either"],
          ]} /></${Field}>`
    }
    <${Field} label="Clock"><${Choice} label="Clock" value=${clock} onPick=${setClock} options=${CLOCKS.map((limit, k) => [k, limit ? `${limit.minutes} min + ${limit.increment} s` : "None"])} /></${Field}>
    <${Field} label="Board"><${BoardField} board=${board} onBoard=${setBoard} /></${Field}>
    <${Field} label="Sound"><label class="check"><input type="checkbox" checked=${settings.get("sound")} onChange=${(event) => settings.set("sound", event.target.checked)} /> A tick with each move</label></${Field}>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </${Dialog}>`;
}

const swapIf = (players, isSwapped) => (isSwapped ? [...players].reverse() : players);

const Field = ({ label, children }) =>
  html`<div class="field"><span class="field-label">${label}</span><span class="field-value">${children}</span></div>`;

/** One of a few, as joined buttons. */
const Choice = ({
  label,
  value,
  options,
  onPick,
}) => html`<span class="choice" role="radiogroup" aria-label=${label} onKeyDown=${radioKeys}>
  ${options.map(([key, text]) => html`<button ...${radio(key === value)} onClick=${() => onPick(key)}>${text}</button>`)}
</span>`;
