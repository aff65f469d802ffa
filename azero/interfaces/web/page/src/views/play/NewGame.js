// The dialog of a new game: opponent, level, side, clock, board; or the two agents that play each other.

import { html, useState } from "../../html.js";
import { settings } from "../../settings.js";
import { Dialog } from "../../shell/dialog.js";
import { Stone } from "../../shell/icons.js";
import { radio, radioKeys } from "../../shell/radios.js";
import { BoardField } from "./BoardField.js";
import { Levels } from "./Levels.js";
import { AgentPicker, PlayerPicker, SimulationsPicker } from "./Pickers.js";
import { beginGame } from "./begin.js";
import { openingPlayers, useAgent } from "./choices.js";

const CLOCKS = [null, { minutes: 1, increment: 2 }, { minutes: 5, increment: 3 }, { minutes: 15, increment: 10 }];
const HUMAN = { kind: "human" };

export function NewGame({ app, session }) {
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

  const stone = (player) => html`<${Stone} players=${session.game.players} player=${player} />`;
  return html`<${Dialog} title=${isOfAgents ? "New game of two agents" : "New game"} onClose=${app.closeDialog} footer=${html`
    <button class="quiet" onClick=${() => start([HUMAN, HUMAN])}>Two people</button>
    <button class="quiet" disabled=${!first.agent} onClick=${() => setOfAgents(!isOfAgents)}>${isOfAgents ? "One agent" : "Two agents"}</button>
    <button class="primary" disabled=${!first.agent} onClick=${startChosen}>Start</button>`}>
    ${isOfAgents
      ? html`<${Field} label=${html`${stone(0)} First`}><${PlayerPicker} label="First" choice=${first} /></${Field}>
          <${Field} label=${html`${stone(1)} Second`}><${PlayerPicker} label="Second" choice=${second} /></${Field}>`
      : html`${first.level
            ? html`<${Levels} agent=${first.agent} level=${first.level} onLevel=${first.setLevel} />`
            : first.agent?.kind !== "random" && html`<${Field} label="Strength"><${SimulationsPicker} label="Simulations a move" choice=${first} /></${Field}>`}
          <${Field} label="Opponent"><${AgentPicker} label="Opponent" choice=${first} /></${Field}>
          <${Field} label="You play"><${Choice} label="Side" value=${side} onPick=${setSide} options=${[
            ["first", html`${stone(0)} First`],
            ["second", html`${stone(1)} Second`],
            ["either", "Either"],
          ]} /></${Field}>`}
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
