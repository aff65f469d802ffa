"""Files of solved positions, and the count of an agent's mistakes in them."""
