"""Other programs as agents, through the protocols of engines: GTP and UCI."""
