"""Whoever plays: searches, nets and other engines, by name."""
