"""Learn how it thinks: a search shown one simulation at a time, as the plain-Python reference runs it."""
