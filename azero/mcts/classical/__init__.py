"""Searches without a net: plain Monte Carlo, MMMC, UCT on tables, whole turns at the root, iterative deepening."""
