"""Changes to Numba that only save time: with them a first suggestion in Connect Four compiles in four fifths.

Compiled code does the same with and without them. They reach into Numba, so they are made only in the version that they
were written for. `codegen.py` has the changes that are needed.
"""

from collections.abc import Callable

import numba
from llvmlite.binding import ffi
from numba.core import errors, event, ir
from numba.core.codegen import JITCodeLibrary
from numba.core.targetconfig import TargetConfig
from numba.core.typing.templates import _OverloadFunctionTemplate

TESTED = "0.68.1"
"""The version of Numba that this, and compilation for browsers, were written for."""


def install() -> None:
    """Makes the changes, in the whole process, if Numba has the tested version."""
    if numba.__version__ != TESTED:
        return
    TargetConfig.__eq__ = _are_equal_flags
    TargetConfig.__hash__ = _hash_of_flags
    ffi.lib._lock._cblist.clear()  # Numba's events for each call of LLVM: nobody listens
    event.start_event, event.end_event = _start_event, _end_event
    if hasattr(errors, "HighlightColorScheme"):  # if colorama is installed
        errors.HighlightColorScheme._markup = lambda scheme, text, *style: text  # of errors that are caught, mostly
    ir.Inst._rec_list_vars = _list_vars
    JITCodeLibrary._optimize_functions = _optimize_functions
    _OverloadFunctionTemplate._get_impl = _get_impl


def _are_equal_flags(flags: TargetConfig, other: object) -> bool:
    """Compares the values that are set; only if these differ, all values, as Numba does."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    return flags is other or flags._values == other._values or flags.values() == other.values()


def _hash_of_flags(flags: TargetConfig) -> int:
    """Hashes few values instead of all. Equal flags have equal ones."""
    return hash((flags.nrt, flags.forceinline, flags.no_cpython_wrapper, flags.release_gil))


def _start_event(kind: str, data: object = None) -> None:
    if event._registered.get(kind):
        event.broadcast(event.Event(kind=kind, status=event.EventStatus.START, data=data))


def _end_event(kind: str, data: object = None, exc_details: tuple | None = None) -> None:
    if event._registered.get(kind):
        event.broadcast(event.Event(kind=kind, status=event.EventStatus.END, data=data, exc_details=exc_details))


def _list_vars(instruction: ir.Inst, value: object) -> list[ir.Var]:
    """Returns the variables in a value, in order."""
    found: list[ir.Var] = []
    _collect(value, found)
    return found


def _collect(value: object, found: list[ir.Var]) -> None:
    kind = type(value)
    if kind is ir.Var:
        found.append(value)
    elif kind is str or kind is ir.Loc or value is None or kind is int or kind is bool:  # most values, and none of them
        return
    elif isinstance(value, ir.Inst):
        found.extend(value.list_vars())
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, found)
    elif isinstance(value, dict):
        for each in value.values():
            _collect(each, found)


def _optimize_functions(library: JITCodeLibrary, module) -> None:
    """Optimises the functions that have a body. Numba makes a pass manager for each declaration, too."""
    module.data_layout = library._codegen._data_layout
    manager = None
    for function in module.functions:
        if not function.is_declaration:
            manager = manager or library._codegen._function_pass_manager()
            passes, builder = manager
            passes.run(function, builder)


_numbas_get_impl = _OverloadFunctionTemplate._get_impl


def _get_impl(template: _OverloadFunctionTemplate, args: tuple, kws: dict) -> tuple[Callable, tuple]:
    """Returns the code of an overloaded function. A method of rules or of a strategy has one for all callers.

    Numba compiles it again for callers with other flags.
    """
    if not (template._overload_func.__module__ or "").startswith("azero."):
        return _numbas_get_impl(template, args, kws)
    key = template.context, tuple(args), tuple(kws.items()), None
    return template._impl_cache.get(key) or template._build_impl(key, args, kws)
