"""The stages of an iteration: self-play, training and the gate."""
