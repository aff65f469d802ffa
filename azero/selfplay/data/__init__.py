"""The data of self-play: records, replay, and training targets."""
