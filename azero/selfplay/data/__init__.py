"""What self-play leaves to learn from: records, replay, and further targets."""
