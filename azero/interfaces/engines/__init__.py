"""azero as an engine of other programs: one engine room, and a file for each protocol that they speak."""
