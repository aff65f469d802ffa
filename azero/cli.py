"""Runs the command line `azero`. Bad input exits with 2 and one line on stderr; Ctrl-C exits with 130.

Before Ctrl-C is handled, only modules are imported that Python has loaded anyway.
"""

import atexit
import contextlib
import os
import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells: 128 plus the signal's number."""


def main() -> None:
    """Runs the command line in `sys.argv`, and ends the process."""
    _end_at_once(run())


def run() -> int:
    """Runs the command line in `sys.argv`; returns the exit code.

    Bad input, broken rules, a full disk and Ctrl-C print one line on stderr.
    """
    try:
        _settle_streams()
        from azero.system import lost_interrupts

        lost_interrupts.send_again()
        return _run(sys.argv[1:] or ["--help"])
    except KeyboardInterrupt:
        return _stop("stopped")


def _settle_streams() -> None:
    """Opens the standard streams that were closed before the start, and lets stdout escape what it cannot encode.

    Otherwise the next file that is opened would take a stream's place, and get what is printed.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _run(words: list[str]) -> int:
    """Runs a command; returns the exit code."""
    import typer

    from azero.errors import BadInput, BrokenRules, BrokenSearch, Stopped

    try:
        code = _call(words) or 0
        sys.stdout.flush()
        return _stop("stopped") if code == INTERRUPTED else code  # typer's code after Ctrl-C
    except Stopped as stopped:
        return _stop(str(stopped))
    except typer.Abort:
        return _stop("stopped")
    except BrokenRules as error:
        return _fail(f"{error}; azero check-game finds errors in rules")
    except BrokenSearch as error:
        return _fail(f"{error}; azero check-search finds errors in searches")
    except BadInput as error:
        return _fail(str(error))
    except typer.TyperException as error:
        message = error.format_message()
        return _fail(message + _advice_on(message, words))
    except BrokenPipeError:  # the reader of our output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a full disk, or a read-only folder
        what = f": {error.filename}" if error.filename else ""
        return _fail(f"{error.strerror or error}{what}; files saved before are kept")
    except Exception as error:  # nobody expected it
        from azero.system.lost_interrupts import has_printed_one

        if has_printed_one():  # the error says that an import has failed
            return _stop("stopped")
        return _fail(f"unexpected error, {type(error).__name__}: {str(error)[:200]}; {_log(error)}")


def _advice_on(message: str, words: list[str]) -> str:
    """Returns what else to say of words that are no call of a command."""
    if "unexpected extra" in message and "--set" in words:
        return "; each setting needs its own --set"
    if "unexpected extra" in message and words[0] == "evaluate":
        return "; name the opponent with --against"
    return f" azero {words[0]} --help has an example" if message.startswith("Missing argument") else ""


def _log(error: Exception) -> str:
    """Writes the traceback of an unexpected error into the cache folder; returns what the user should know."""
    import time
    import traceback

    from azero.compiler.cache import cache_root
    from azero.errors import BadInput

    try:
        folder = cache_root()
    except BadInput:
        return "its log cannot be written"
    file = folder / f"error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"azero {' '.join(sys.argv[1:])}\n\n{''.join(traceback.format_exception(error))}"
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return "its log cannot be written"
    return f"please report it with {file}; a run that has begun continues with --resume"


def _call(words: list[str]) -> int | None:
    """Runs a command. An error that a user's rules or search raise becomes one line."""
    from azero.commands.app import app

    try:
        return app(words, standalone_mode=False)
    except (Exception, SystemExit) as error:
        if "azero.games.user.loading" in sys.modules:  # otherwise there are no rules of a user
            from azero.games.reasons import failure_of

            if failure := failure_of(error):
                raise failure from None
        raise


def _fail(message: str) -> int:
    from azero.system.console import say

    say(message)
    return 2


def _stop(message: str) -> int:
    """Prints the message of Ctrl-C. Another Ctrl-C is ignored from here on, since the process ends at once."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from azero.system.console import say

    if sys.stderr.isatty():
        print(file=sys.stderr)  # after the terminal's ^C
    say(message)
    return INTERRUPTED


def _end_at_once(code: int) -> None:
    """Ends the process. Python itself would first free all memory, compiled code too, which takes half a second.

    It would also wait for its threads, and might end by the signal of a Ctrl-C that is handled already.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the stream is closed, or nobody reads it
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
