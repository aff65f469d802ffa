"""Ctrl-C that Python or C code would swallow is sent again.

Only modules are imported that Python has loaded anyway, since Ctrl-C may come while azero is being imported.
"""

import _thread
import sys
import time

_printed: list[BaseException] = []
"""Ctrl-C that C code has printed in place of raising it."""


def send_again() -> None:
    """From now on, Ctrl-C comes again if it came where no exception could be raised."""
    sys.unraisablehook, sys.excepthook = _after_unraisable, _after_print


def has_printed_one() -> bool:
    """Returns whether C code has printed Ctrl-C in place of raising it. It may then fail with another error."""
    return bool(_printed)


def _after_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    """Ctrl-C came in code that no exception leaves, such as a destructor."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    _send_to_this_thread()


def _after_print(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """C code prints Ctrl-C, as numpy's does while it is imported."""
    if kind is not KeyboardInterrupt:
        sys.__excepthook__(kind, error, trace)  # type: ignore[arg-type]
        return
    _printed.append(error)
    _send_to_this_thread()


def _send_to_this_thread() -> None:
    try:  # noqa: SIM105, contextlib is not loaded yet
        _thread.start_new_thread(_send_soon, (_thread.get_ident(),))
    except RuntimeError:  # Python is already ending
        pass


def _send_soon(thread: int) -> None:
    """Waits until `thread` has left that code, then sends it Ctrl-C."""
    import signal

    time.sleep(0.01)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, signal.SIGINT)  # wakes the main thread if it waits
    else:
        _thread.interrupt_main()
