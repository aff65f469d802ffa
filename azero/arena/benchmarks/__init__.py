"""Agents held to solved positions."""
