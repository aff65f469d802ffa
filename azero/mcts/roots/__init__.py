"""What is special about a root: noise, forced playouts, Gumbel, the choice of a move, the policy target."""
