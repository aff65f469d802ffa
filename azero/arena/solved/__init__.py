"""Solved positions, judges that solve more, and an agent's mistakes in them."""
