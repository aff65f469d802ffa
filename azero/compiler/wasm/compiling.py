"""Compiles entries, and all that they call, to a WebAssembly module.

An entry is a Python function whose arguments and result are numbers. It uses kernels, and arrays of `memory.py`. Its
annotations say how JavaScript sees them:

    int        i32, a number; compiled code gets it as int64
    float      f64, a number
    np.uint64  i64, a BigInt
    None       no result
"""

import inspect
import math
import pickle
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import types

from azero.compiler.jit import compile_dispatcher, compile_errors, plain_message
from azero.compiler.wasm import mathematics
from azero.compiler.wasm.linker import Undefined, link
from azero.compiler.wasm.memory import Room
from azero.compiler.wasm.target import TRIPLE, new_machine
from azero.errors import BadInput

STACK_BYTES = 1 << 18
"""The stack lies at the beginning of the memory, so that a program that uses too much of it ends with an error."""

_LEVEL = 2
"""LLVM's level of optimisation. The third takes 2.6 times as long for Breakthrough, and its code is no faster."""

_RESERVED = 64  # bytes at the beginning of the stack: `FAILED`, and what null pointers would read

FAILED = 16
"""The address of an int32: not 0 if the last entry failed, then the number of an exception, or 1 if it has none."""

_TEMPORARY_BYTES = 1 << 16
"""Memory for copies of overlapping slices in rules."""

_OPTIONS: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True
}  # fmt: skip

_ARGUMENTS = {int: ("i32", "i64", types.int64), float: ("double", "double", types.float64)}
_ARGUMENTS[np.uint64] = ("i64", "i64", types.uint64)
"""By annotation: the type of the export's argument, that of the compiled function, and Numba's."""


class Compiled(NamedTuple):
    """A module.

    Attributes:
      end: the first address that its data leave free.
      errors: the kind and the message of each exception, by its number.
    """

    module: bytes
    end: int
    errors: dict[int, tuple[str, str]]


def compile_entries(entries: Mapping[str, Callable], room: Room) -> Compiled:
    """Returns the module of entries; raises BadInput if they use what has no counterpart there.

    Args:
      room: of their arrays, which begins behind the stack.
    """
    whole = _link_modules([_compile(name, function) for name, function in entries.items()])
    _define_what_is_missing(whole, room)
    content = _emit(whole, list(entries))
    try:
        linked = link(content, room.end, entries, room.segments, STACK_BYTES)
    except Undefined as error:
        names = ", ".join(as_written(str(each)) for each in error.args)
        raise BadInput(f"the rules use {names}, which browsers have no counterpart of") from None
    errors, module = {}, linked.module
    for name, address in linked.addresses.items():
        if name.startswith(".const.picklebuf"):
            pickled, size = struct.unpack("<II", linked.read(address, 8))
            with suppress(Exception):  # of a class that cannot be found here
                kind, arguments, *_ = pickle.loads(linked.read(pickled, size))
                errors[address] = kind.__name__, " ".join(map(str, arguments or ()))
            module = linked.without(module, pickled, size)  # it has the paths of the user's files
    return Compiled(module, linked.end, errors)


def as_written(name: str) -> str:
    """Returns a function that is missing as users write it: gamma for Numba's numba_gamma or numba_gammaf."""
    base = name.removeprefix("numba_")
    return next((each for each in (base, base.removesuffix("f")) if hasattr(math, each)), name)


class _Entry(NamedTuple):
    library: Any
    text: str  # of the exported function, as LLVM reads it


def _compile(name: str, function: Callable) -> _Entry:
    """Compiles an entry."""
    annotations = inspect.get_annotations(function)
    returns = annotations.pop("return", None)
    kinds = [_ARGUMENTS[each] for each in annotations.values()]
    try:
        found = compile_dispatcher(numba.njit(**_OPTIONS)(function), tuple(kind for _, _, kind in kinds))
    except compile_errors() as error:
        raise BadInput(f"{name} cannot be compiled for browsers: {plain_message(error)}") from error
    inner, result = found.fndesc.llvm_func_name, found.signature.return_type
    return _Entry(found.library, _export(name, inner, [each[:2] for each in kinds], result, returns))


def _export(name: str, inner: str, kinds: Sequence[tuple[str, str]], result: types.Type, returns: object) -> str:
    """Returns an exported function that calls Numba's, and notes a failure."""
    own, told, convert = _result_of(result, returns)
    parameters = ", ".join(f"{kind} %a{k}" for k, (kind, _) in enumerate(kinds))
    widened = "\n".join(
        f"  %b{k} = {'sext' if kind != to else 'bitcast'} {kind} %a{k} to {to}" for k, (kind, to) in enumerate(kinds)
    )
    passed = "".join(f", {to} %b{k}" for k, (_, to) in enumerate(kinds))
    declared = "".join(f", {to}" for _, to in kinds)
    return f"""
declare i32 @{inner}(ptr, ptr{declared})
define {told} @{name}({parameters}) {{
  %result = alloca {own}, align 8
  %raised = alloca ptr
  store ptr null, ptr %raised
  store {own} zeroinitializer, ptr %result
{widened}
  %status = call i32 @{inner}(ptr %result, ptr %raised{passed})
  %is_done = icmp eq i32 %status, 0
  br i1 %is_done, label %done, label %failed
failed:
  %exception = load ptr, ptr %raised
  %number = ptrtoint ptr %exception to i32
  %has_none = icmp eq i32 %number, 0
  %noted = select i1 %has_none, i32 1, i32 %number
  store i32 %noted, ptr inttoptr (i32 {FAILED} to ptr)
  br label %done
done:
  %value = load {own}, ptr %result
{convert}
}}
"""


def _result_of(kind: types.Type, returns: object) -> tuple[str, str, str]:
    """Returns the types of a result in the compiled function and in the export, and how the latter returns it."""
    kind = getattr(kind, "literal_type", kind)
    if returns is None:
        return "ptr", "void", "  ret void"
    if isinstance(kind, types.Float):
        own = "double" if kind.bitwidth == 64 else "float"
        return (
            own,
            "double",
            f"  %out = {'fpext' if own == 'float' else 'bitcast'} {own} %value to double\n  ret double %out",
        )
    bits = 8 if isinstance(kind, types.Boolean) else kind.bitwidth
    told = 64 if returns is np.uint64 else 32
    how = (
        "bitcast" if bits == told else "trunc" if bits > told else "sext" if getattr(kind, "signed", False) else "zext"
    )
    return f"i{bits}", f"i{told}", f"  %out = {how} i{bits} %value to i{told}\n  ret i{told} %out"


def _link_modules(entries: Sequence[_Entry]) -> llvm.ModuleRef:
    """Returns a module of all entries and what they call."""
    libraries = list({id(each): each for entry in entries for each in entry.library._linking_libraries}.values())
    whole = entries[0].library._final_module.clone()
    for entry in entries[1:]:
        whole.link_in(entry.library._final_module.clone())
    before: set[str] | None = None
    # LLVM's linker adds such a function only if something refers to it already, so it takes several rounds.
    while (missing := _undefined(whole)) != before:
        before = missing
        for each in reversed(libraries):
            whole.link_in(each._get_module_for_linking().clone())
    for entry in entries:
        whole.link_in(_parse(entry.text))
    return whole


def _undefined(module: llvm.ModuleRef) -> set[str]:
    """Returns the names of functions that a module declares but does not define."""
    return {each.name for each in module.functions if each.is_declaration}


def _parse(text: str) -> llvm.ModuleRef:
    return llvm.parse_assembly(f'target triple = "{TRIPLE}"\ntarget datalayout = "{new_machine().target_data}"\n{text}')


def _define_what_is_missing(whole: llvm.ModuleRef, room: Room) -> None:
    """Adds elementary functions and the memory of rules' copies, where they are used."""
    missing = _undefined(whole)
    for name, base in mathematics.needed(missing).items():
        function, number = mathematics.FUNCTIONS[base]
        kind, of_float = (
            ("float", True) if (name.endswith("f") and name != base) or name.endswith(".f32") else ("double", False)
        )
        whole.link_in(_module_of_function(_symbol_of(name), function, number, kind if of_float else "double"))
    if missing & {"NRT_Allocate", "NRT_Allocate_External", "NRT_MemInfo_call_dtor"}:
        stack = room.place(np.zeros(_TEMPORARY_BYTES, np.uint8))
        whole.link_in(_parse(_memory_of_rules(stack.address, stack.address + _TEMPORARY_BYTES)))


def _symbol_of(name: str) -> str:
    """Returns the name under which LLVM calls an elementary function, by an intrinsic or directly."""
    if not name.startswith("llvm."):
        return name
    _, base, width = name.split(".")
    return f"{base}f" if width == "f32" else base


def _module_of_function(name: str, function: Any, number: int, kind: str) -> llvm.ModuleRef:
    """Returns a module with an elementary function."""
    found = compile_dispatcher(numba.njit(**_OPTIONS)(function.py_func), (types.float64,) * number)
    inner = found.fndesc.llvm_func_name
    module = _link_modules([_Entry(found.library, "")])
    parameters = ", ".join(f"{kind} %a{k}" for k in range(number))
    convert = "fpext float %a{k} to double" if kind == "float" else "bitcast double %a{k} to double"
    widened = "\n".join(f"  %b{k} = {convert.format(k=k)}" for k in range(number))
    passed = "".join(f", double %b{k}" for k in range(number))
    narrow = "fptrunc double %value to float" if kind == "float" else "bitcast double %value to double"
    module.link_in(
        _parse(f"""
declare i32 @{inner}(ptr, ptr{", double" * number})
define {kind} @{name}({parameters}) {{
  %result = alloca double, align 8
  %raised = alloca ptr
{widened}
  %status = call i32 @{inner}(ptr %result, ptr %raised{passed})
  %value = load double, ptr %result
  %out = {narrow}
  ret {kind} %out
}}
""")
    )
    for each in module.functions:
        if not each.is_declaration and each.name != name:
            each.linkage = "internal"
    return module


def _memory_of_rules(begin: int, end: int) -> str:
    """Returns what rules need of Numba's memory management. What they allocate, they free at once."""
    return f"""
@azero_free = internal global i32 {begin}
define ptr @NRT_Allocate(i64 %size) {{
  %at = load i32, ptr @azero_free
  %short = trunc i64 %size to i32
  %padded = add i32 %short, 15
  %whole = and i32 %padded, -16
  %next = add i32 %at, %whole
  %fits = icmp ule i32 %next, {end}
  br i1 %fits, label %taken, label %full
full:
  call void @llvm.trap()
  unreachable
taken:
  store i32 %next, ptr @azero_free
  %memory = inttoptr i32 %at to ptr
  ret ptr %memory
}}
define ptr @NRT_Allocate_External(i64 %size, ptr %allocator) {{
  %memory = call ptr @NRT_Allocate(i64 %size)
  ret ptr %memory
}}
define void @NRT_Free(ptr %memory) {{
  %at = ptrtoint ptr %memory to i32
  store i32 %at, ptr @azero_free
  ret void
}}
define void @NRT_MemInfo_call_dtor(ptr %info) {{
  call void @llvm.trap()
  unreachable
}}
declare void @llvm.trap()
"""


def _emit(whole: llvm.ModuleRef, entries: Sequence[str]) -> bytes:
    """Optimises a module in place; returns it as an object that has nothing but the entries for others."""
    kept = {*entries, *map(_symbol_of, mathematics.needed(_undefined(whole)))}
    for each in (*whole.functions, *whole.global_variables):
        if not each.is_declaration and each.name not in kept and not each.name.startswith("llvm."):
            each.linkage = "internal"
    whole.verify()
    machine = new_machine()
    tuning = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, tuning)
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()
    passes.run(whole, builder)
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, builder)
    whole.verify()
    return machine.emit_object(whole)
