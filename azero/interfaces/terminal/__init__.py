"""azero at a terminal: games against it, and its answers as text."""
