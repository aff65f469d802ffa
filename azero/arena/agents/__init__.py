"""Agents by name: searches, nets and other engines."""
