"""Searching one position after another: kept trees, and several trees of one position."""
