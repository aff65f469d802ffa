"""Where a game in the terminal is shown and lines are read: plain streams, or a terminal with line editing."""

import os
import sys
from typing import Protocol

from azero.interfaces.terminal.answers import Complete


class Screen(Protocol):
    """Shows text and reads lines."""

    is_coloured: bool

    def ask(self, prompt: str, complete: Complete, left_s: float | None = None) -> str:
        """Returns a line; raises EOFError at the end of input.

        Args:
          left_s: after how many seconds the line is no longer of use; None: never. A screen that cannot interrupt the
            person goes on waiting.
        """

    def tell(self, text: str) -> None:
        """Shows text and ends the line."""


class PlainScreen:
    """Reads stdin and writes stdout, without any codes for terminals."""

    is_coloured = False

    def ask(self, prompt: str, complete: Complete, left_s: float | None = None) -> str:
        line = input(prompt)
        if not sys.stdin.isatty():
            print(line)  # a terminal would show what was typed
        return line

    def tell(self, text: str) -> None:
        print(text, flush=True)


def open_screen() -> Screen:
    """Returns a screen with line editing if stdin and stdout are a terminal that can do it, otherwise a plain one.

    It has no colours if the environment variable NO_COLOR is set (https://no-color.org).
    """
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not is_terminal or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        return PlainScreen()
    from azero.interfaces.terminal.line_editor import EditingScreen

    return EditingScreen(is_coloured=not os.environ.get("NO_COLOR"))
