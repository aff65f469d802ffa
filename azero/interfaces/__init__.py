"""azero as people use it."""
