"""Tests of what all else stands on: pools and their workers, files that travel, messages, Ctrl-C."""
