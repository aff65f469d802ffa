"""The residual tower with heads that do not depend on the board's size, so that one net plays boards of all sizes."""
