"""Tests of the places of a run's files."""

import subprocess
import sys

from azero.runs.folder import FIRST_NET, RunFolder, files_in, nets_in, shard_name, shards_from_elsewhere, shards_in

ROOM = "folder", "metrics", "settings", "shards", "state"


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_no_torch_is_needed_to_read_a_run():
    imports = ", ".join(f"azero.runs.{name}" for name in ROOM)
    done = subprocess.run([sys.executable, "-c", f"import sys, {imports}; print('torch' in sys.modules)"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == "False\n"


def test_nets_and_shards_are_found_in_the_order_of_their_numbers(tmp_path):
    run = RunFolder(tmp_path)
    for iteration in (100_000, 20, FIRST_NET):
        touch(tmp_path, run.checkpoint_path(iteration), run.checkpoint_file("mean"))
    assert [net.iteration for net in nets_in(tmp_path)] == [0, 20, 100_000]
    assert nets_in(tmp_path)[0].path == run.first_path
    names = [shard_name(*numbers) for numbers in ((FIRST_NET, 0), (FIRST_NET, 10_000), (2, 1), (2, 12), (100_000, 0))]
    touch(tmp_path, *(run.shard_path(name) for name in sorted(names, reverse=True)))
    assert [shard.name for shard in shards_in(tmp_path)] == names
    assert shards_from_elsewhere(tmp_path) == names[:2]


def test_links_hidden_files_and_those_of_other_names_are_left_out(tmp_path):
    touch(tmp_path, "elsewhere/00003.safetensors", "checkpoints/.00001.safetensors", "checkpoints/00002.txt")
    (tmp_path / "checkpoints" / "00003.safetensors").symlink_to(tmp_path / "elsewhere" / "00003.safetensors")
    (tmp_path / "checkpoints" / "00004.safetensors").mkdir()
    assert files_in(tmp_path, "checkpoints") == nets_in(tmp_path) == []
    touch(tmp_path, "checkpoints/mine.safetensors")
    assert [path.name for path in files_in(tmp_path, "checkpoints")] == ["mine.safetensors"]
    assert nets_in(tmp_path) == []
    (tmp_path / "replay").symlink_to(tmp_path / "checkpoints")
    assert files_in(tmp_path, "replay") == [] and files_in(tmp_path / "none", "replay") == []
