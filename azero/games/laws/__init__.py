"""The laws that every game keeps, and how they are checked."""
