// What a game in play asks of the server: that agents get ready, and their moves.

import { post, stream } from "../../api.js";
import { actionsOf } from "../../panel/lines.js";

/**
 * Loads the agents of `players` that are not ready; returns whether there were any.
 *
 * `onStages` gets the stages of the agent that is being loaded, the last one current, and [] when it is ready.
 */
export async function prepare(players, session, { signal, onStages, onError }) {
  const cold = players.filter(({ agent }) => agent && session.agents.find(({ id }) => id === agent)?.state !== "ready");
  for (const { agent } of cold) {
    const body = { agent, game: session.game.id, moves: [], simulations: 1 };
    let stages = [];
    const onStage = (stage) => {
      const earlier = stages.filter((each) => each.stage !== stage.stage);
      stages = stage.stage === "searching" || stage.stage === "queued" ? [] : [...earlier, stage];
      onStages(stages);
    };
    await stream("analyses", body, { signal, onStage, onError });
  }
  return cold.length > 0;
}

/** Returns the actions of an agent's move in the session's position, several in a whole turn; null where it gives up. `seed` is that of the game: with it the server finds what the adaptive level knows. */
export async function moveOf(player, session, seed, signal) {
  const body = { agent: player.agent, game: session.game.id, moves: session.moves };
  if (player.level) Object.assign(body, { level: player.level, seed });
  else if (player.simulations) body.simulations = player.simulations;
  const { best, moves } = await post("suggestions", body, { signal });
  return best === "resign" ? null : actionsOf(moves[0]);
}
