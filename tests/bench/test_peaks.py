"""Tests of peak rates: the loops do the counted multiply-adds, and the CPU decides which loops are measured."""

import numpy as np
import pytest

from azero.bench import peaks
from azero.bench.peaks import Peak, compile_loop, cpu_features, find_instructions, measure_peaks
from azero.compiler.jit import IS_COMPILED

compiled = pytest.mark.skipif(not IS_COMPILED, reason="needs the compiler")
INSTRUCTIONS = [each for each in peaks._INSTRUCTIONS if each.needs in cpu_features() and IS_COMPILED]


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda each: each.name)
@pytest.mark.parametrize("num", [0, 1, 5, 1000])
def test_a_loop_takes_in_every_product(instruction, num):
    """With x = 1/2 a product is 1/4 per lane, in fp32 and in bf16 (as pair 0, 1/2); int8 takes bytes 0, 0, 0, 63."""
    first = np.float32(0.5) + np.arange(instruction.accumulators, dtype=np.float32)
    if instruction.type == "int8":
        last = (first.view(np.int32) + num * 63 * 63).view(np.float32)
    else:
        last = first + np.float32(num * 0.25)
    expected = instruction.lanes * last.astype(np.float64).sum()
    assert compile_loop(instruction)(num, 0.5) == pytest.approx(expected, rel=1e-5)


@compiled
@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda each: each.name)
def test_a_loop_is_made_of_the_instruction_and_its_sums_stay_in_registers(instruction):
    (assembly,) = compile_loop(instruction).inspect_asm().values()
    wanted = {"fp32": "fmadd|fmla", "bf16": "vdpbf16ps", "int8": "vpdpbusd"}[instruction.type].split("|")
    lines = assembly.splitlines()
    used = [line for line in lines if any(each in line for each in wanted)]
    assert len(used) >= instruction.accumulators
    assert not [line for line in used if "(" in line or "[" in line], "an operand is in memory"


def test_operations_of_a_pass():
    by_name = {each.name: each.operations for each in peaks._INSTRUCTIONS}
    assert by_name["llvm.fma.v8f32"] == 12 * 8 * 2
    assert by_name["llvm.x86.avx512bf16.dpbf16ps.512"] == 16 * 32 * 2
    assert by_name["llvm.x86.avx512.vpdpbusd.512"] == 16 * 64 * 2


@compiled
@pytest.mark.parametrize(
    ("features", "names"),
    [
        (set(), {}),
        ({"sse2"}, {}),
        ({"neon"}, {"fp32": "llvm.fma.v4f32"}),
        ({"fma"}, {"fp32": "llvm.fma.v8f32"}),
        ({"fma", "avxvnni"}, {"fp32": "llvm.fma.v8f32", "int8": "llvm.x86.avx512.vpdpbusd.256"}),
        ({"fma", "avx512f"}, {"fp32": "llvm.fma.v16f32"}),
        (
            {"fma", "avx512f", "avx512vnni", "avxvnni", "avx512bf16"},
            {
                "fp32": "llvm.fma.v16f32",
                "bf16": "llvm.x86.avx512bf16.dpbf16ps.512",
                "int8": "llvm.x86.avx512.vpdpbusd.512",
            },
        ),
    ],
)
def test_the_widest_instruction_that_the_cpu_has(features, names):
    assert {kind: each.name for kind, each in find_instructions(features).items()} == names


def test_without_the_compiler_there_is_no_peak(monkeypatch):
    monkeypatch.setattr(peaks, "IS_COMPILED", False)
    assert measure_peaks([1, 2], 0.05) == [Peak(kind, None, num, None) for kind in peaks.TYPES for num in (1, 2)]


@compiled
@pytest.mark.skipif(not INSTRUCTIONS, reason="the CPU has no multiply-add")
def test_peaks_of_this_machine():
    measured = measure_peaks([1, 2], 0.05)
    assert [(peak.type, peak.threads) for peak in measured] == [(kind, num) for kind in peaks.TYPES for num in (1, 2)]
    there = find_instructions(cpu_features())
    for peak in measured:
        assert peak.instruction == (there[peak.type].name if peak.type in there else None)
        assert (peak.operations_per_s is None) == (peak.type not in there)
    assert measured[0].operations_per_s > 1e9, "fp32 on one thread should do some vectors per thousand cycles"
