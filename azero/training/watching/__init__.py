"""What a run shows of itself: figures, curves, reports, and whether it is in good health."""
