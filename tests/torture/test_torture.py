"""A short form of what `make torture` does for as long as it is given, and tests that it finds what it looks for."""

import os
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cases import long
from training.runs import finish_train, needs_proc, write_config

from azero.errors import BadInput
from azero.system import files
from azero.system.files import write_whole

from .commands import fuzz_commands
from .faults import FullDisk, PowerCut, UnflushableDisk
from .flips import Flips, flip_bits
from .fuzz import MOST_MIB, MOST_SECONDS, Harm, feed, fuzz
from .kinds import KINDS, Kind, make_samples
from .torture import DISKS, Difference, Torture

ALL_KINDS = list(KINDS.values())
OLD, NEW = b"old " * 100, b"new!" * 90


def write_until_the_power_is_cut(folder: Path, step: int, seed: int, lies: bool = False) -> bytes | None:
    """Writes a file in another process, in which the power is cut; returns what the file has then."""
    path = folder / "file"
    path.write_bytes(OLD)
    if not (child := os.fork()):
        disk = PowerCut(folder, step, seed)
        if lies:
            disk.sync = lambda descriptor, path: None  # type: ignore[method-assign]
        files.DISK = disk
        write_whole(path, NEW)
        disk.cut()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    return path.read_bytes() if path.exists() else None


@needs_proc
def test_a_file_is_the_old_one_or_the_new_one_when_the_power_is_cut_at_any_step(tmp_path):
    found = {write_until_the_power_is_cut(tmp_path, step, seed) for step in range(6) for seed in range(4)}
    assert found == {OLD, NEW}


@pytest.mark.slow
@needs_proc
def test_a_disk_that_lies_about_flushing_would_be_noticed(tmp_path):
    found = {write_until_the_power_is_cut(tmp_path, 9, seed, lies=True) for seed in range(20)}
    assert found - {OLD, NEW}


@pytest.mark.parametrize(("kind", "error"), [(FullDisk, "No space left"), (UnflushableDisk, "Input/output error")])
def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch, kind, error):
    write_whole(tmp_path / "file", OLD)
    monkeypatch.setattr(files, "DISK", kind(tmp_path, 0, 0))
    with pytest.raises(OSError, match=error):
        write_whole(tmp_path / "file", NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_bytes() == OLD


@pytest.mark.long
@needs_proc
def test_tortured_runs_end_as_an_unbroken_one(tmp_path):
    torture = Torture(tmp_path, seed=1)
    for kind in ["run", "parent", "group", "worker", "damage", *DISKS, *DISKS, "damage", "run"]:
        torture.hit(kind)
    torture.finish()
    assert sum(torture.faults.values()) >= 6 and torture.ended >= 1


@pytest.mark.slow
def test_a_run_that_ends_otherwise_is_noticed(tmp_path):
    torture = Torture(tmp_path, seed=1)
    torture.configs[1] = write_config(tmp_path / "config1", seed=6)
    finish_train(tmp_path / "run1", torture.configs[1])
    with pytest.raises(Difference, match="run1 differs from"):
        torture.finish()


# --- inputs ---


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


def fail(given: object, harm: AssertionError) -> None:
    pytest.fail(f"{given}: {harm}")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_hostile_inputs_are_read_or_refused_in_one_line(samples, kind):
    refused, read, _ = fuzz(kind, 100, samples, fail)
    assert refused > 40 and refused + read >= 99


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ALL_KINDS[::3], *long(*(each for k, each in enumerate(ALL_KINDS) if k % 3))])
def test_hostile_inputs_end_commands_in_one_line(samples, kind, monkeypatch):
    monkeypatch.chdir(samples)
    assert sum(fuzz_commands(kind, 3, samples, fail)[:2]) >= 3


def test_what_an_input_should_not_do_is_noticed(samples):
    def read(given, folder):
        if given == "key":
            raise KeyError(given)
        if given == "slow":
            time.sleep(MOST_SECONDS + 0.1)
        if given == "large":
            np.ones((MOST_MIB + 100) << 17)
        raise BadInput("" if given == "other" else "no")

    kind = Kind("harmful", lambda draw: "key", read, lambda given, folder: [])
    with pytest.raises(Harm, match="KeyError: 'key'"):
        feed(kind, "key", samples)
    with pytest.raises(Harm, match="it is refused without a message"):
        feed(kind, "other", samples)
    for given, limit in (("slow", " s; "), ("large", " MiB; "), ("large", " MiB; ")):
        with pytest.raises(Harm, match=rf"^it takes \d.*{limit}"):
            feed(kind, given, samples)
    told: list[object] = []
    assert fuzz(kind, 3, samples, lambda given, harm: told.append(given))[:2] == (0, 0) and told == ["key"] * 3


# --- bits ---


@pytest.mark.thorough
def test_flipped_bits_are_refused_or_change_nothing(tmp_path):
    finish_train(tmp_path / "run", write_config(tmp_path))
    ends: Counter[tuple[str, str]] = flip_bits(tmp_path / "run", 300, 0, pytest.fail)
    assert ends["replay", "refused"] > 50 and ends["state.safetensors", "refused"] > 5 and sum(ends.values()) == 300
    flips = Flips(tmp_path / "run")
    config = tmp_path / "run" / "config.toml"
    place = config.read_bytes().index(b"seed = 5") + len("seed = ")
    assert flips.flip(config, place, 1) == "refused"  # 7: the state has 5
