"""The settings of a run: their schema, how they are read and checked, and their reference page."""
