"""Self-play: games played in lockstep, their data, and the replay window that training samples from."""
