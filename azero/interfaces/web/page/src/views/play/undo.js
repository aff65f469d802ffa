// Undo.

/**
 * Takes back to the beginning of the human's own turn; one move if there is no human, or two. At an earlier position the
 * moves that follow are taken back, and no others if it is the human's turn there. A message offers to put them back.
 */
export async function takeBack(play) {
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
  if (isEarlier) play.app.toast({ text: "The moves that followed are taken back.", button: { text: "Put them back", onPick: putBack } });
}

async function isOwnTurn({ session, human }, node) {
  if (human === null) return true;
  const { to_move: toMove, picture } = await session.positionOf(node);
  return toMove === human && picture.begun.length === 0;
}
