"""Tests of the output of `azero bench`, as tables and as JSON."""

import json

import pytest

from azero.bench.kernels import KernelRow
from azero.bench.nets import NetRow
from azero.bench.peaks import Peak, cpu_features, find_instructions
from azero.bench.report import SECTIONS, measure, show_table
from azero.bench.selfplay import SelfPlayRow
from azero.bench.training import TrainingRow
from azero.config.reading import find_config, load_config
from azero.system.machine import count_cores

pytestmark = pytest.mark.thorough

CONFIG = load_config(find_config("smoke"), ["device.device=cpu"])
TYPES_HERE = find_instructions(cpu_features())
ROWS = {"peak": Peak, "kernels": KernelRow, "net": NetRow, "selfplay": SelfPlayRow, "training": TrainingRow}


def test_everything_is_measured_and_told(monkeypatch):
    monkeypatch.setattr("azero.bench.selfplay._LEAST_S", 0.0)
    told = []
    report = json.loads(json.dumps(measure(CONFIG, SECTIONS, 0.02, told.append)))
    assert list(report) == ["game", "cores", "peak", "kernels", "tower", "net", "selfplay", "training"]
    assert report["game"] == "tic_tac_toe" and report["cores"] == count_cores()
    for section, kind in ROWS.items():
        assert report[section] and all(tuple(row) == kind._fields for row in report[section])
    assert {row["batch_size"] for row in report["net"]} == {1, 8, 64, 256}
    assert all(row["rate"] > 0 for row in report["kernels"])
    assert report["training"][0]["positions_per_s"] > 0
    assert all((row["share_of_peak"] is None) == (row["path"][-4:] not in TYPES_HERE) for row in report["net"])
    assert len(told) == len(SECTIONS)
    assert "27,672 operations, 17,944 of them on the board" in told[2]
    assert told[3].startswith("\nSelf-play: tic_tac_toe, 1 x 8, ") and told[3].split()[6] in ("fp32", "bf16", "int8")
    assert not told[0].startswith("\n") and not any(text.endswith("\n") for text in told)


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (["kernels"], ["kernels"]),
        (["peak"], ["peak"]),
        (["training", "peak"], ["peak", "training"]),
    ],
)
def test_only_what_is_asked_is_measured(asked, keys):
    assert list(measure(CONFIG, asked, 0.02, lambda text: None)) == ["game", "cores", *keys]


def test_a_table():
    rows = [
        NetRow("torch eager fp32", 1, 2, 1638.4, 0.0751, 1.0),
        NetRow("torch int8", 256, 1, 12345678.9, None, 12.345),
    ]
    assert show_table(rows).splitlines() == [
        "path              batch size  threads  evaluations/s  share of peak  times torch eager",
        "torch eager fp32           1        2          1,638           7.5%               1.00",
        "torch int8               256        1     12,345,679              -              12.35",
    ]


def test_a_type_without_an_instruction():
    rows = [Peak("fp32", "llvm.fma.v8f32", 1, 117.4e9), Peak("int8", None, 1, None)]
    assert show_table(rows).splitlines() == [
        "type  instruction     threads  operations/s",
        "fp32  llvm.fma.v8f32        1         117 G",
        "int8  -                     1             -",
    ]
