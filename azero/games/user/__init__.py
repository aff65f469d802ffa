"""Games of the user's own: a file is loaded, tried out in plain Python, and compiled; errors name its lines."""
