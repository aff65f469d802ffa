"""What a server offers: games, agents and runs, each by an id that requests choose it by."""
