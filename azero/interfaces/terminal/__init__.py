"""Terminal interface: games against an agent, and results as text."""
