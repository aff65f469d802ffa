"""A small net of linear layers only, for games whose planes are no picture."""
