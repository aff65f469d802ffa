"""Settings of a run: schema, reading, checks and reference page."""
