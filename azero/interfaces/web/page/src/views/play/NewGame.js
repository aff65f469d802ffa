// The dialog of a new game: opponent, level, side, clock, board.

import { html, useState } from "../../html.js";
import { settings } from "../../settings.js";
import { Dialog } from "../../shell/dialog.js";
import { Stone } from "../../shell/icons.js";
import { radio, radioKeys } from "../../shell/radios.js";
import { BoardField } from "./BoardField.js";
import { Levels } from "./Levels.js";
import { beginGame } from "./begin.js";

const CLOCKS = [null, { minutes: 1, increment: 2 }, { minutes: 5, increment: 3 }, { minutes: 15, increment: 10 }];
const SIMULATIONS = [10, 50, 100, 200, 400, 1000, 5000];
const FIRST_LEVEL = 3;

const levelsOf = (agent) => agent?.levels ?? null;

/** The level itself, or the agent's highest one if it has fewer levels. */
const fit = (level, levels) => (level === "adaptive" ? level : Math.min(level, levels.length));

/** The players of a game that begins by itself: a human, and the game's own agent at a middle level. */
export function openingPlayers(session) {
  const agent = opponentsOf(session)[0];
  if (!agent) return [{ kind: "human" }, { kind: "human" }];
  const levels = levelsOf(agent);
  return [{ kind: "human" }, asPlayer(agent, levels && fit(FIRST_LEVEL, levels), 100)];
}

function opponentsOf(session) {
  const order = { net: 0, run: 1, uct: 2 };
  return [...session.agents].sort((a, b) => (order[a.kind] ?? 3) - (order[b.kind] ?? 3));
}

const asPlayer = (agent, level, simulations) => ({
  kind: "agent",
  agent: agent.id,
  level,
  simulations: level || agent.kind === "random" ? null : simulations,
});

export function NewGame({ app, session }) {
  const opponents = opponentsOf(session);
  const current = app.play?.players.find((player) => player.kind === "agent");
  const [agentId, setAgent] = useState(current?.agent ?? opponents[0]?.id);
  const [wanted, setLevel] = useState(current?.level ?? FIRST_LEVEL);
  const [simulations, setSimulations] = useState(current?.simulations ?? 100);
  const [side, setSide] = useState("first");
  const [clock, setClock] = useState(0);
  const [board, setBoard] = useState(session.game.id);
  const [problem, setProblem] = useState(""); // why there is no such board
  const agent = opponents.find((each) => each.id === agentId) ?? opponents[0];
  const levels = levelsOf(agent);
  const level = levels && fit(wanted, levels);

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
  const opponent = () => asPlayer(agent, level, simulations);
  const against = () => {
    const isFirst = side === "first" || (side === "either" && Math.random() < 0.5);
    start(swapIf([{ kind: "human" }, opponent()], !isFirst));
  };

  return html`<${Dialog} title="New game" onClose=${app.closeDialog} footer=${html`
    <button class="quiet" onClick=${() => start([{ kind: "human" }, { kind: "human" }])}>Two people</button>
    <button class="quiet" disabled=${!agent} onClick=${() => start([opponent(), opponent()])}>Two agents</button>
    <button class="primary" disabled=${!agent} onClick=${against}>Start</button>`}>
    ${levels
      ? html`<${Levels} agent=${agent} level=${level} onLevel=${setLevel} />`
      : html`<${Field} label="Strength"><select aria-label="Simulations a move" value=${simulations} onChange=${(event) => setSimulations(Number(event.target.value))}>
          ${SIMULATIONS.map((number) => html`<option value=${number} selected=${number === simulations}>${number} simulations a move</option>`)}
        </select></${Field}>`}
    <${Field} label="Opponent"><select aria-label="Opponent" value=${agent?.id} onChange=${(event) => setAgent(event.target.value)}>
      ${opponents.map((each) => html`<option value=${each.id} selected=${each.id === agent?.id}>${each.title}</option>`)}
    </select></${Field}>
    <${Field} label="You play"><${Choice} label="Side" value=${side} onPick=${setSide} options=${[
      ["first", html`<${Stone} players=${session.game.players} player=${0} /> First`],
      ["second", html`<${Stone} players=${session.game.players} player=${1} /> Second`],
      ["either", "Either"],
    ]} /></${Field}>
    <${Field} label="Clock"><${Choice} label="Clock" value=${clock} onPick=${setClock} options=${CLOCKS.map((limit, k) => [k, limit ? `${limit.minutes} min + ${limit.increment} s` : "None"])} /></${Field}>
    <${Field} label="Board"><${BoardField} session=${session} board=${board} onBoard=${setBoard} /></${Field}>
    <${Field} label="Sound"><label class="check"><input type="checkbox" checked=${settings.get("sound")} onChange=${(event) => settings.set("sound", event.target.checked)} /> A tick with each move</label></${Field}>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </${Dialog}>`;
}

const swapIf = (players, isSwapped) => (isSwapped ? [...players].reverse() : players);

const Field = ({ label, children }) => html`<div class="field"><span class="field-label">${label}</span><span class="field-value">${children}</span></div>`;

/** One of a few, as joined buttons. */
const Choice = ({ label, value, options, onPick }) => html`<span class="choice" role="radiogroup" aria-label=${label} onKeyDown=${radioKeys}>
  ${options.map(([key, text]) => html`<button ...${radio(key === value)} onClick=${() => onPick(key)}>${text}</button>`)}
</span>`;
