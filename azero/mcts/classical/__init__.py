"""Searches with rollouts alone: plain Monte Carlo, MMMC, transposition tables, whole turns at the root."""
