"""`azero`: a command line is run; bad input exits with 2, and a line on stderr, Ctrl-C with 130.

Nothing but what every Python has loaded is imported before Ctrl-C is understood.
"""

import _thread
import atexit
import os
import sys
import time

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""


def main() -> None:
    """Runs the command line; bad input, broken rules, a full disk and Ctrl-C become a line on stderr."""
    try:
        sys.unraisablehook = _strike_again
        code = _run(sys.argv[1:] or ["--help"])
    except KeyboardInterrupt:
        code = _stop("stopped")
    if code == INTERRUPTED:
        _end_at_once(code)
    sys.exit(code)


def _strike_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Repeats Ctrl-C a moment later where it struck in what Python lets no exception out of, such as a destructor."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    try:  # noqa: SIM105, contextlib is not loaded yet
        _thread.start_new_thread(_strike_soon, (_thread.get_ident(),))
    except RuntimeError:  # Python is ending, as was asked
        pass


def _strike_soon(thread: int) -> None:
    """Waits until `thread` has left what it was in, and sends it Ctrl-C."""
    import signal

    time.sleep(0.01)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, signal.SIGINT)  # which wakes the main thread where it waits for something
    else:
        _thread.interrupt_main()


def _run(words: list[str]) -> int:
    """Runs a command; returns the exit code."""
    import typer

    from azero.commands.app import app
    from azero.errors import BadInput, BrokenRules, Stopped

    try:
        code = app(words, standalone_mode=False) or 0
        return _stop("stopped") if code == INTERRUPTED else code  # which is what typer makes of Ctrl-C
    except Stopped as stopped:
        return _stop(str(stopped))
    except typer.Abort:
        return _stop("stopped")
    except BrokenRules as error:
        return _fail(f"{error}; azero check-game finds what is wrong with rules")
    except BadInput as error:
        return _fail(str(error))
    except typer.TyperException as error:
        return _fail(error.format_message())
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a full disk, a folder that cannot be written
        what = f": {error.filename}" if error.filename else ""
        return _fail(f"{error.strerror or error}{what}; what was saved before stays")


def _fail(message: str) -> int:
    print(f"azero: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _stop(message: str) -> int:
    """Tells of Ctrl-C; from here on another one changes nothing, for the end comes at once."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    after_echo = "\n" if sys.stderr.isatty() else ""  # a terminal has written ^C
    print(f"{after_echo}azero: {message}", file=sys.stderr)
    return INTERRUPTED


def _end_at_once(code: int) -> None:
    """Ends the process. Python would wait for its threads, and might end by a signal that has been dealt with."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
