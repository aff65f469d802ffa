// The menu of what can be copied.

export const CopyMenu = () => null;
