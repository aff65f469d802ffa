"""What is special about a root: its strategies, the choice of a move, the policy target."""
