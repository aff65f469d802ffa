"""Lessons: positions to learn beside those of self-play, from solved positions or from games that exist."""
