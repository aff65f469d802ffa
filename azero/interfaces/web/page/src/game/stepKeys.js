// The keys that step through the line on the board, the same in all views.

export const stepKeys = (session) => ({
  arrowleft: ["back", () => void session.back()],
  k: ["back", () => void session.back()],
  arrowright: ["forward", () => void session.forward()],
  j: ["forward", () => void session.forward()],
  home: ["first move", () => void session.first()],
  end: ["last move", () => void session.last()],
});
