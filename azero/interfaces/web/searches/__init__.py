"""Searches for many clients on one machine: loaded agents, turns, and streams of reports."""
