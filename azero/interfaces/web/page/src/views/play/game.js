// A game that is played: who plays which side, the clocks, and when it is over.

import { nameOf } from "../../score.js";
import { Clocks } from "./clocks.js";
import { hintOf, moveOf, prepare } from "./requests.js";
import { takeBack } from "./undo.js";

const HUMAN = { kind: "human" };
const SLOW_MS = 300; // whatever takes longer says what it does

/**
 * Plays the agents' moves in the session's game. `players` has, for each side, {kind: "human"} or {kind: "agent",
 * agent, level, simulations}. `clock` is {minutes, increment} or null.
 */
export class PlayGame {
  constructor(app, players = [HUMAN, HUMAN], clock = null) {
    this.app = app;
    this.session = app.session;
    this.game = this.session.game;
    this.players = players;
    this.clocks = clock ? new Clocks(clock, (player) => this.end(1 - player, `${this.nameOfSide(player)} ran out of time.`)) : null;
    this.decided = null; // {winner, text} of a game that ended off the board
    this.thinking = null; // {player, since}
    this.limit = clock;
    this.stages = []; // of an agent that is being loaded, as a stream reports them
    this.problem = null; // an error of the agent
    this.hint = null; // {cells, line, isLine}
    this.isPaused = false;
    this.request = null;
    this.seen = null; // the node whose move has been announced
    this.isStopped = false;
    this.unsubscribe = this.session.subscribe(() => this.onChange());
    this.closing = new AbortController();
    this.prepare();
  }

  /** Loads the agents before their first move, and shows the stages. */
  async prepare() {
    const { signal } = this.closing;
    const onStages = (stages) => {
      this.stages = stages;
      this.changed();
    };
    const isNew = await prepare(this.players, this.session, { signal, onStages, onError: (error) => (this.problem = error) });
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

  get isLive() {
    return this.session.isSettled && this.session.node.children.length === 0 && !this.result;
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
    if (session.game !== this.game) this.stop();
    if (this.isStopped || !session.isSettled) return;
    const { to_move: toMove, result } = session.position;
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
    if ((session.ply > 0 || this.clocks?.hasBegun) && this.isReady(toMove)) this.clocks?.run(toMove);
    else this.clocks?.stop();
    if (this.players[toMove].kind === "agent" && !this.isPaused) this.askAgent(toMove);
    else if (this.thinking?.node !== session.node) this.cancel();
  }

  /** Whether a side's time counts: that of an agent which is being loaded does not. */
  isReady(side) {
    const player = this.players[side];
    return player.kind === "human" || (!this.stages.length && this.agentOf(player)?.state === "ready");
  }

  /** Asks again for the move that an agent could not make. */
  retry() {
    this.problem = null;
    this.cancel();
    this.onChange();
    this.changed();
  }

  /** Puts another agent in the place of one that could not move. */
  replaceAgent(id) {
    this.players = this.players.map((player) => (player.kind === "agent" ? { ...player, agent: id, level: null, simulations: player.simulations ?? 100 } : player));
    this.prepare();
    this.retry();
  }

  cancel() {
    this.request?.abort();
    this.request = this.thinking = null;
  }

  async askAgent(side) {
    const { session } = this;
    if (this.thinking?.node === session.node) return;
    this.cancel();
    const player = this.players[side];
    const request = new AbortController();
    const thinking = { node: session.node, player: side, since: Date.now() };
    Object.assign(this, { request, thinking, problem: null });
    const timer = setInterval(() => Date.now() - thinking.since > SLOW_MS && this.changed(), 500);
    try {
      const move = await moveOf(player, session, request.signal);
      if (this.thinking !== thinking) return;
      this.thinking = null;
      if (move === "resign") this.end(1 - side, `${this.titleOf(side)} resigns.`);
      else {
        this.clocks?.moved(side);
        await session.play(move);
      }
    } catch (error) {
      if (error.name !== "AbortError") this.problem = error;
      if (this.thinking === thinking) this.thinking = null;
    } finally {
      clearInterval(timer);
      this.changed();
    }
  }

  /** Plays a human's move. */
  play(action) {
    this.clocks?.moved(this.session.position.to_move);
    this.hint = null;
    return this.session.play(action.move);
  }

  end(winner, text) {
    this.cancel();
    this.clocks?.stop();
    this.decided = { winner, text };
    this.app.announce(text);
    this.changed();
  }

  resign() {
    const side = this.human ?? this.session.position.to_move;
    this.end(1 - side, `${this.titleOf(side) === "You" ? "You resigned" : `${this.titleOf(side)} resigns`}. ${this.nameOfSide(1 - side)} wins.`);
  }

  get mayUndo() {
    return this.session.node.parent !== null;
  }

  undo() {
    if (!this.mayUndo) return;
    this.cancel();
    this.decided = null;
    return takeBack(this.session, this.human);
  }

  /** Shows the square of the best move; asked again, the line that may follow. */
  async askHint() {
    if (!this.mayMove) return;
    if (this.hint) {
      this.hint = { ...this.hint, isLine: true };
      this.app.announce(`Hint: ${this.hint.line.join(" ")}`);
      return this.changed();
    }
    try {
      const hint = await hintOf(this.app.agent, this.session);
      if (!hint) return;
      this.hint = { ...hint, isLine: false };
      this.app.announce(`Hint: ${hint.move}`);
    } catch (error) {
      this.app.fail(error);
    }
    this.changed();
  }

  swapSides() {
    this.players = [this.players[1], this.players[0]];
    this.cancel();
    this.onChange();
    this.changed();
  }

  pause(isPaused) {
    this.isPaused = isPaused;
    if (isPaused) this.cancel();
    else this.onChange();
    this.changed();
  }
}
