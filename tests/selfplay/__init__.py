"""Tests of self-play: playing games, keeping them in files, and drawing training samples."""
