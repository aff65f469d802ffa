"""Which child a simulation goes to: PUCT, UCT, and what they have in common."""
