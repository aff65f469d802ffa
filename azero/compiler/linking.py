"""Links kernels that Numba has compiled into a shared library, as `libraries.py` opens it.

Every kernel becomes a function `int(const int64 *words, void *result, void **raised)`. A C compiler links it. It is
needed where libraries are made, not where they are used.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba import types
from numba.core.registry import cpu_target

from azero.compiler.libraries import RESULT_WORDS, digest_of, made_for

_FORMS = {
    "bool": "?",
    "boolean": "?",
    "float32": "f",
    "float64": "d",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
}
"""Numba's types of results, by `struct`'s letters."""

_MEMORY = """
#include <stdlib.h>
void *NRT_Allocate(size_t size) { return malloc(size); }
void *NRT_Allocate_External(size_t size, void *allocator) { return malloc(size); }
void NRT_Free(void *memory) { free(memory); }
void NRT_MemInfo_call_dtor(void *info) { abort(); }
"""
"""What rules need of Numba's memory management, for copies of overlapping slices."""


class Used(NamedTuple):
    """A kernel for one combination of types, as a warm run has used it."""

    name: str  # with its module
    kinds: tuple[str, ...]  # of its arguments, as `arguments.packed` says them
    num_words: int
    compiled: Any  # what Numba has compiled


def link(used: list[Used], path: Path) -> None:
    """Writes the library PATH.so with these kernels, and PATH.json, which says what it holds."""
    codegen = cpu_target.target_context.codegen()
    target = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=codegen._get_host_cpu_name(), features=codegen._tm_features, opt=3, reloc="pic", codemodel="default"
    )
    whole, kernels = None, {}  # type: ignore[var-annotated]
    for number, each in enumerate(used):
        symbol = f"kernel_{number}"
        module = _module_of(each, symbol)
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
        kernels.setdefault(each.name, []).append((each.kinds, symbol, _form_of(each.compiled.signature.return_type)))
    assert whole is not None
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3)))
    whole.verify()
    path.parent.mkdir(parents=True, exist_ok=True)
    library = path.with_suffix(".so")
    with tempfile.TemporaryDirectory() as folder:
        code, memory = Path(folder) / "kernels.o", Path(folder) / "memory.c"
        code.write_bytes(target.emit_object(whole))
        memory.write_text(_MEMORY, encoding="utf-8")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-fPIC", "-shared", "-s", "-o", library, code, memory, "-lm"], check=True)
    text = json.dumps({"made_for": made_for(), "kernels": kernels}).encode()
    path.with_suffix(".json").write_bytes(digest_of(text, library) + b"\n" + text)


def _module_of(used: Used, symbol: str) -> llvm.ModuleRef:
    """Returns the module of a kernel, in which only `symbol` is seen from outside. It unpacks the words."""
    inner = used.compiled.fndesc.llvm_func_name
    text = str(used.compiled.library._final_module)
    (kinds,) = (_parameters(each) for each in text.splitlines() if each.startswith("define") and f"@{inner}(" in each)
    assert len(kinds) == used.num_words + 2, f"{used.name}: {len(kinds) - 2} words, not {used.num_words}"
    reads = "\n".join(
        f"  %p{k} = getelementptr i64, ptr %words, i64 {k}\n  %v{k} = load {kind}, ptr %p{k}, align 8"
        for k, kind in enumerate(kinds[2:])
    )
    values = "".join(f", {kind} %v{k}" for k, kind in enumerate(kinds[2:]))
    module = llvm.parse_assembly(text)
    module.link_in(
        llvm.parse_assembly(f"""
target triple = "{module.triple}"
target datalayout = "{module.data_layout}"
declare i32 @{inner}({", ".join(kinds)})
define i32 @{symbol}(ptr %words, ptr %result, ptr %raised) {{
{reads}
  %status = call i32 @{inner}(ptr %result, ptr %raised{values})
  ret i32 %status
}}
""")
    )
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != symbol and not each.name.startswith("llvm."):
            each.linkage = "internal"
    return module


def _parameters(line: str) -> list[str]:
    """Returns the types of a function's parameters from its first line."""
    inside = line[line.index("(", line.index("@")) + 1 : line.rindex(")")]
    while inside != (inside := re.sub(r"\([^()]*\)", "", inside)):  # of attributes, such as captures(none)
        pass
    return [each.split()[0] for each in inside.split(",")]


def _form_of(kind: types.Type) -> str:
    """Returns the form of a result as `Entry` reads it."""
    if kind == types.none:
        return ""
    if isinstance(kind, types.BaseTuple):
        assert not isinstance(kind, types.BaseNamedTuple) and len(kind) <= RESULT_WORDS, kind
        return f"({''.join(_FORMS[_name_of(each)] for each in kind)})"
    return _FORMS[_name_of(kind)]


def _name_of(kind: types.Type) -> str:
    return str(getattr(kind, "literal_type", kind))
