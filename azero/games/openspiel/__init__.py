"""OpenSpiel's games, named `openspiel:chess`: OpenSpiel knows the rules, and azero's searches ask it."""
