// Which agent plays in a new game, and how strong.

import { useState } from "../../html.js";

export const SIMULATIONS = [10, 50, 100, 200, 400, 1000, 5000];
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
export function useAgent(session, current) {
  const opponents = opponentsOf(session);
  const [id, setAgent] = useState(current?.agent ?? opponents[0]?.id);
  const [wanted, setLevel] = useState(current?.level ?? null);
  const [simulations, setSimulations] = useState(current?.simulations ?? 100);
  const agent = opponents.find((each) => each.id === id) ?? opponents[0];
  const level = agent?.levels && (wanted === null ? firstLevel(agent.levels) : fit(wanted, agent.levels));
  return { opponents, agent, level, simulations, setAgent, setLevel, setSimulations, player: agent && asPlayer(agent, level, simulations) };
}

/** The level at which a new player begins: never full strength, which is the last one. */
export const firstLevel = (levels) => Math.min(FIRST_LEVEL, Math.max(1, levels.length - 1));

/** The level itself, or the agent's highest one if it has fewer levels. */
const fit = (level, levels) => (level === "adaptive" ? level : Math.min(level, levels.length));

const asPlayer = (agent, level, simulations) => ({
  kind: "agent",
  agent: agent.id,
  level,
  simulations: level || agent.kind === "random" ? null : simulations,
});
