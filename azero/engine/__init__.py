"""A trained agent in use: what it suggests, shown to people, and games against it."""
