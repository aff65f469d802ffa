"""A user's own games: a file is loaded, tried out in plain Python and compiled. Errors name its lines."""
