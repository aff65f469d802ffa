"""Fixtures of the tests of users' files."""

import pytest

from azero.games.user import trial

from .user_games import forget_files


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """The working folder of a test. Files that earlier tests loaded are forgotten."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def uncompiled(monkeypatch):
    """Files are loaded and tried out in plain Python only."""
    monkeypatch.setattr(trial, "compile_game", lambda game: None)
