// An agent of a game in play is asked for its move, and plays it.

import { moveOf } from "./requests.js";

const SLOW_MS = 300; // whatever takes longer says what it does

/** Plays the move of the agent on a side, unless it is being asked already. */
export async function askAgent(play, side) {
  const { session } = play;
  if (play.thinking?.node === session.node) return;
  play.cancel();
  const request = new AbortController();
  const thinking = { node: session.node, player: side, since: Date.now() };
  Object.assign(play, { request, thinking, problem: null, stuckAt: null });
  const timer = setInterval(() => Date.now() - thinking.since > SLOW_MS && play.changed(), 500);
  try {
    const actions = await moveOf(play.players[side], session, play.seed, request.signal);
    if (play.thinking !== thinking || session.node !== thinking.node) return;
    if (actions) await play.move(actions);
    else play.giveUp(side, `${play.titleOf(side)} resigns.`);
    if (session.isSettled && session.error) refuse(play, actions);
  } catch (error) {
    if (error.name !== "AbortError" && play.thinking === thinking) play.fail(error);
  } finally {
    if (play.thinking === thinking) play.thinking = null;
    clearInterval(timer);
    play.changed();
  }
}

/** The rules do not allow what an agent has chosen. */
function refuse(play, actions) {
  const { message } = play.session.error;
  play.session.forgetError();
  play.fail(new Error(`it chose ${actions.join("")}: ${message}`));
}
