"""Monitoring of a run: metrics, curves, reports, and warnings."""
