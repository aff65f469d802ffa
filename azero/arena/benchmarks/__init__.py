"""Files of solved positions, and how an agent's moves at them are judged."""
