// The lessons of the view Learn: a search, one simulation at a time, as POST simulations of the server answers them.

import { Refused } from "./positions.js";
import { lineOf, pause, run } from "./searches.js";

const MOST = 500; // the last simulation that a lesson shows

/** The answer to POST simulations. `agent` judges by PUCT; with UCT any one will do. */
export async function simulate(game, agent, asked, signal) {
  const { first = 1, count = 10, c = null, seed = 0, method } = asked;
  const { actions, moves } = lineOf(game, asked);
  if (method === "puct" && agent.about.kind !== "net")
    throw new Refused(409, "no_net", `agent ${agent.about.id} has no net; puct needs one`);
  return agent.use(async (engine) => {
    signal.throwIfAborted();
    engine.goTo(actions);
    const settings = engine.settings("shown");
    const constant = method === "uct" ? "c_uct" : "c_puct";
    if (c !== null) settings[constant] = c;
    const last = Math.min(first + count - 1, MOST);
    const search = engine.search({ method, settings, simulations: first - 1, seed });
    await run(search, signal);
    search.extend(MOST);
    const simulations = [];
    let ended = "count";
    while (first + simulations.length <= last) {
      const done = search.simulation();
      if (done === null) {
        ended = "proven";
        break;
      }
      simulations.push(shown(game, actions, done));
      await pause(signal);
    }
    game.engine.goTo(actions);
    return {
      game: game.id,
      moves,
      to_move: game.engine.toMove(),
      rule: { name: method, [method === "uct" ? "c" : constant]: settings[constant] },
      seed,
      first,
      num_simulations: search.simulations,
      ended,
      simulations,
    };
  });
}

/** A simulation as the page takes it: moves by their texts, values rounded. */
function shown(game, root, done) {
  const { engine } = game;
  const at = (depth) => {
    engine.goTo([...root, ...done.path.slice(0, depth)]);
    return game.board();
  };
  const textsAt = (depth, actions) => {
    const board = at(depth);
    return actions.map((action) => board.textOf(action));
  };
  const [path] = game.textsOf(root, [done.path]);
  const selections = done.choices.map((choice) => {
    const texts = textsAt(
      choice.depth,
      choice.candidates.map(({ action }) => action),
    );
    return {
      depth: choice.depth,
      to_move: choice.player,
      N: choice.N,
      Q: rounded(choice.Q),
      constant: rounded(choice.constant),
      children: choice.candidates.map((each, k) => ({
        move: texts[k],
        N: each.N,
        P: rounded(each.P),
        Q: rounded(each.Q),
        U: finite(each.U),
        score: finite(each.score),
        proven: forMover(each.proven, choice.player),
        is_left_out: each.isLeftOut,
      })),
      chosen: choice.candidates.findIndex(({ action }) => action === choice.chosen),
      reason: choice.reason,
      num_equal: choice.numEqual,
    };
  });
  return {
    number: done.number,
    path,
    selections,
    expansion: expansionOf(game, at, done),
    evaluation: {
      kind: done.kind,
      to_move: done.leafToMove,
      value: rounded(done.value),
      rollout: done.rollout && game.textsOf([...root, ...done.path], [done.rollout])[0],
    },
    backup: done.nodes.map((node, k) => ({
      depth: node.depth,
      chooser: k ? done.nodes[k - 1].player : null,
      to_move: node.player,
      N: [node.before.N, node.after.N],
      W: [rounded(node.before.W), rounded(node.after.W)],
      proven: [proofOf(node.before), proofOf(node.after)],
    })),
  };
}

function expansionOf(game, at, { expanded, priors }) {
  if (expanded === null) return null;
  const board = at(expanded);
  const sorted = [...priors].sort((a, b) => a.action - b.action);
  return {
    depth: expanded,
    to_move: game.engine.toMove(),
    children: sorted.map(({ action, P }) => ({ move: board.textOf(action), P: rounded(P) })),
  };
}

const rounded = (number) => Math.round(1e6 * number) / 1e6;

const finite = (number) => (Number.isFinite(number) ? rounded(number) : null);

const proofOf = ({ proven, plies }) => (proven === null ? null : { result: proven, plies });

const forMover = (proven, player) =>
  proven === null ? null : ["loss", "draw", "win"][1 + (player === 0 ? proven : -proven)];
