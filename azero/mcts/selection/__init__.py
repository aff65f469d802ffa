"""Selection: which child a simulation goes to, by PUCT or UCT."""
