"""The command line of a script with several commands."""

import argparse
from collections.abc import Callable, Mapping

Command = tuple[Callable[[argparse.ArgumentParser], object], Callable[[argparse.Namespace], object], str]
"""What adds a command's options, what it does, and its line of help."""


def run_command(commands: Mapping[str, Command], doc: str | None) -> None:
    """Runs the command that the command line names. `doc` is the script's docstring, for `--help`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (add_options, work, text) in commands.items():
        command = known.add_parser(name, help=text)
        add_options(command)
        command.set_defaults(work=work)
    options = parser.parse_args()
    options.work(options)
