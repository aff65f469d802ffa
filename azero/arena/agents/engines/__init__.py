"""Other programs as agents, through the protocols of engines: GTP, UCI and Gomocup's."""
