"""The root of a search: root strategies, the choice of a move, the policy target."""
