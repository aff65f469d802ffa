// A game that is played: who plays which side, the clocks, and when it is over.

import { post, stream } from "../../api.js";
import { GameTree } from "../../game/tree.js";
import { actionsOf } from "../../panel/overlays.js";
import { nameOf } from "../../score.js";
import { Clocks } from "./clocks.js";

/** Begins a game in the session: an empty board, these players, this clock. */
export async function beginGame(app, players, limit) {
  await app.session.setTree(new GameTree({ play: { players, limit } }));
  app.setView("play");
}

/**
 * Takes back to the beginning of the human's own turn; one move if there is no human, or two. At an earlier position the
 * moves that follow are taken back, and no others if it is the human's turn there. A message offers to put them back.
 */
async function takeBack(play) {
  const { session, decided } = play;
  const { tree, tags, node: shown } = session;
  play.cancel();
  Object.assign(play, { decided: null, problem: null, stuckAt: null });
  const { Result, Termination, ...others } = tags;
  session.tags = others;
  const removed = [...shown.children].map((child) => tree.remove(child));
  const isEarlier = removed.length > 0;
  let node = shown;
  while (node.parent && !((isEarlier || node !== shown) && (await isOwnTurn(play, node)))) {
    removed.push(tree.remove(node));
    node = node.parent;
  }
  await session.goTo(node);
  const putBack = () => {
    if (session.tree !== tree) return;
    removed.reverse().forEach((put) => put());
    play.decided = decided;
    session.tags = tags;
    session.goTo(shown);
  };
  if (isEarlier)
    play.app.toast({
      text: "The moves that followed are taken back.",
      button: { text: "Put them back", onPick: putBack },
    });
}

async function isOwnTurn({ session, human }, node) {
  if (human === null) return true;
  const { to_move: toMove, picture } = await session.positionOf(node);
  return toMove === human && picture.begun.length === 0;
}

export const SLOW_MS = 300; // whatever takes longer says what it does

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

/**
 * Loads the agents of `players` that are not ready; returns whether there were any.
 *
 * `onStages` gets the stages of the agent that is being loaded, the last one current, and [] when it is ready.
 */
async function prepare(players, session, { signal, onStages, onError }) {
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
async function moveOf(player, session, seed, signal) {
  const body = { agent: player.agent, game: session.game.id, moves: session.moves };
  if (player.level) Object.assign(body, { level: player.level, seed });
  else if (player.simulations) body.simulations = player.simulations;
  const { best, moves } = await post("suggestions", body, { signal });
  return best === "resign" ? null : actionsOf(moves[0]);
}

/**
 * Plays the agents' moves in the session's tree, until another one takes its place. `begun` says how far the game has
 * come, see `begun`. Only `players` has to be there: for each side, {kind: "human"} or {kind: "agent", agent, level,
 * simulations}.
 */
export class PlayGame {
  constructor(app, begun) {
    this.app = app;
    this.session = app.session;
    this.tree = this.session.tree;
    this.players = begun.players;
    this.limit = begun.limit ?? null; // of the clocks: {minutes, increment}
    this.clocks =
      this.limit &&
      new Clocks(this.limit, begun.left ?? null, (side) =>
        this.end(1 - side, `${this.nameOfSide(side)} ran out of time.`, "time forfeit"),
      );
    this.decided = begun.decided ?? null; // {winner, text} of a game that ended off the board
    this.thinking = null; // {player, since}
    this.seed = begun.seed ?? Math.floor(Math.random() * 1e9); // of the moves of levels
    this.stages = []; // of an agent that is being loaded, as a stream reports them
    this.problem = null; // an error of the agent
    this.stuckAt = null; // the node at which it could not move; it is not asked again by itself
    this.moved = null; // {ply, side} of a move that is on its way to the server
    this.hint = begun.hint ?? null; // {move, line, isLine}
    this.isPaused = begun.isPaused ?? false;
    this.request = null;
    this.seen = this.hint && this.session.node; // the node whose move has been announced
    this.isStopped = false;
    this.unsubscribe = this.session.subscribe(() => this.onChange());
    this.closing = new AbortController();
    this.prepare();
  }

  /** How far the game has come, apart from its moves: what `new PlayGame` takes. */
  get begun() {
    const { players, limit, decided, seed, hint, isPaused } = this;
    return { players, limit, left: this.clocks?.both ?? null, decided, seed, hint, isPaused };
  }

  /** Loads the agents before their first move, and shows the stages. */
  async prepare() {
    const { signal } = this.closing;
    const onStages = (stages) => {
      this.stages = stages;
      this.changed();
    };
    const isNew = await prepare(this.players, this.session, {
      signal,
      onStages,
      onError: (error) => (this.problem = error),
    });
    if (signal.aborted) return;
    this.stages = [];
    if (isNew) await this.session.refreshAgents().catch(() => {});
    this.changed();
  }

  stop() {
    this.closing.abort();
    this.request?.abort();
    this.clocks?.stop();
    this.unsubscribe();
    this.isStopped = true;
  }

  changed() {
    this.app.changed();
  }

  get isAgainstAgent() {
    return this.players.some((player) => player.kind === "agent");
  }

  get hasHuman() {
    return this.players.some((player) => player.kind === "human");
  }

  /** The side of the only human; null if there is none, or two. */
  get human() {
    const sides = [0, 1].filter((side) => this.players[side].kind === "human");
    return sides.length === 1 ? sides[0] : null;
  }

  /** {winner, text} of the finished game; null while it goes on. */
  get result() {
    return this.decided ?? (this.session.isSettled ? this.session.position.result : null);
  }

  /** Whether the game has ended, even if the board shows an earlier position. */
  get isOver() {
    const { session } = this;
    const last = session.tree.lineOf(session.node).at(-1) ?? session.node;
    return this.decided !== null || Boolean(session.cached(last)?.result);
  }

  get isLive() {
    return !this.isStopped && this.session.isSettled && this.session.node.children.length === 0 && !this.result;
  }

  get mayMove() {
    return this.isLive && this.players[this.session.position.to_move].kind === "human";
  }

  nameOfSide(side) {
    return nameOf(this.session.game, side);
  }

  titleOf(side) {
    const player = this.players[side];
    if (player.kind === "human") return this.human === null ? this.nameOfSide(side) : "You";
    const agent = this.agentOf(player);
    const level = player.level === "adaptive" ? "adaptive" : player.level && `level ${player.level}`;
    return [level ? "azero" : (agent?.title ?? player.agent), level].filter(Boolean).join(", ");
  }

  agentOf(player) {
    return this.session.agents.find((agent) => agent.id === player.agent);
  }

  onChange() {
    const { session } = this;
    if (session.tree !== this.tree) this.stop();
    if (this.isStopped || !session.isSettled) return;
    const { to_move: toMove, result } = session.position;
    if (this.moved?.ply === session.ply && this.moved.side !== toMove) this.clocks?.gain(this.moved.side);
    this.moved = null;
    if (this.seen !== session.node) {
      this.seen = session.node;
      this.hint = null;
      if (result) this.app.announce(result.text);
      else if (session.node.move) this.app.announce(`${session.node.move} played. ${this.nameOfSide(toMove)} to move.`);
    }
    if (this.app.view !== "play") {
      this.clocks?.stop();
      return this.cancel();
    }
    if (!this.isLive) {
      this.clocks?.stop();
      if (session.node !== this.thinking?.node) this.cancel();
      return;
    }
    const isWaiting = this.isPaused || this.stuckAt === session.node; // until the user goes on
    if ((session.ply > 0 || this.clocks?.hasBegun) && this.isReady(toMove) && !isWaiting) this.clocks?.run(toMove);
    else this.clocks?.stop();
    if (this.players[toMove].kind === "agent" && !isWaiting) askAgent(this, toMove);
    else if (this.thinking?.node !== session.node) this.cancel();
  }

  /** Whether a side's time counts: that of an agent which is being loaded does not. */
  isReady(side) {
    const player = this.players[side];
    return player.kind === "human" || (!this.stages.length && this.agentOf(player)?.state === "ready");
  }

  /** Asks again for the move that an agent could not make. */
  retry() {
    this.problem = this.stuckAt = null;
    this.cancel();
    this.onChange();
    this.changed();
  }

  /** Puts another agent in the place of one that could not move. */
  replaceAgent(id) {
    this.players = this.players.map((player) =>
      player.kind === "agent" ? { ...player, agent: id, level: null, simulations: player.simulations ?? 100 } : player,
    );
    this.prepare();
    this.retry();
  }

  cancel() {
    this.request?.abort();
    this.request = this.thinking = null;
  }

  /** An agent could not move. */
  fail(problem) {
    this.cancel();
    this.clocks?.stop();
    Object.assign(this, { problem, stuckAt: this.session.node });
  }

  /** Plays actions of the side to move. Its clock stands still until the server has answered. */
  move(actions) {
    const { session } = this;
    const side = session.position.to_move;
    this.clocks?.stop();
    Object.assign(this, { moved: { ply: session.ply + actions.length, side }, hint: null });
    return session.play(...actions);
  }

  /** Plays a human's move, unless the game has ended or gone on meanwhile. */
  act = (action) => this.mayMove && this.move([action.move]);

  /** Ends the game off the board; `termination` is that of its record. */
  end(winner, text, termination) {
    this.cancel();
    this.clocks?.stop();
    this.decided = { winner, text };
    Object.assign(this.session.tags, { Result: winner === 0 ? "1-0" : "0-1", Termination: termination });
    this.app.announce(text);
    this.changed();
  }

  giveUp(side, text) {
    this.end(1 - side, text, "resignation");
  }

  resign() {
    if (this.isOver) return;
    const side = this.human ?? this.session.position.to_move;
    this.giveUp(
      side,
      `${this.titleOf(side) === "You" ? "You resigned" : `${this.titleOf(side)} resigns`}. ${this.nameOfSide(1 - side)} wins.`,
    );
  }

  get mayUndo() {
    const { node } = this.session;
    return node.parent !== null || node.children.length > 0;
  }

  undo() {
    return this.mayUndo && takeBack(this);
  }

  swapSides() {
    if (this.isOver) return;
    this.players = [this.players[1], this.players[0]];
    this.cancel();
    this.onChange();
    this.changed();
  }

  pause(isPaused) {
    this.isPaused = isPaused;
    if (isPaused) this.cancel();
    this.onChange();
    this.changed();
  }
}
