"""Searches without a net: plain Monte Carlo, MMMC, tables for trees, whole turns at the root, deepening."""
