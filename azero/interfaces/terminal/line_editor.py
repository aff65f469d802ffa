"""A terminal with line editing: arrow keys, earlier lines and completion. Only this module imports prompt_toolkit."""

import asyncio
import time
from collections.abc import Iterable

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.shortcuts import CompleteStyle

from azero.interfaces.terminal.answers import Complete

_REFRESH_S = 0.5
_GRACE_S = 0.05  # so that the time is surely over when the line ends


class EditingScreen:
    """Reads lines that are edited in the terminal. Lines are kept in memory only."""

    def __init__(self, is_coloured: bool):
        self.is_coloured = is_coloured
        self.history = InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(
            complete_style=CompleteStyle.READLINE_LIKE, complete_while_typing=False, history=self.history
        )

    def ask(self, prompt: str, complete: Complete, left_s: float | None = None) -> str:
        """Returns a line, which is empty if the time was over first. The time left is shown on the right."""
        end = time.monotonic() + (left_s or 0.0)

        def begin() -> None:
            if left_s is not None:
                get_app().create_background_task(_end_at(end))

        return self._session.prompt(  # the session would keep what is left out here from the line before
            ANSI(prompt),
            completer=_Lines(complete),
            rprompt="" if left_s is None else lambda: _minutes(end - time.monotonic()),
            refresh_interval=0.0 if left_s is None else _REFRESH_S,
            pre_run=begin,
        )

    def tell(self, text: str) -> None:
        print_formatted_text(ANSI(text))


async def _end_at(end: float) -> None:
    """Ends the line that is being typed, by `time.monotonic`."""
    await asyncio.sleep(end - time.monotonic() + _GRACE_S)
    if not get_app().is_done:
        get_app().exit(result="")


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes}:{rest:02}"


class _Lines(Completer):
    """Offers whole lines, and shows of each the word that is added."""

    def __init__(self, complete: Complete):
        self._complete = complete

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor.lstrip()
        for line in self._complete(typed):
            yield Completion(line, start_position=-len(typed))
