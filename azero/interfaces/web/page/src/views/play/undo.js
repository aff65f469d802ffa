// Undo.

/** Takes back to the beginning of the human's own turn; a single move where `human` is null. */
export async function takeBack(session, human) {
  const isBegin = async (at) => {
    const { to_move: toMove, picture } = await session.positionOf(at);
    return toMove === human && picture.begun.length === 0;
  };
  let { node } = session;
  do {
    const { parent } = node;
    session.tree.remove(node);
    node = parent;
  } while (node.parent && human !== null && !(await isBegin(node)));
  await session.goTo(node);
}
