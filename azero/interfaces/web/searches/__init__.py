"""Searches for many clients on one machine: loaded agents, jobs in a queue, and streams of reports."""
