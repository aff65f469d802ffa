"""Disks that fail: one that is full, one that cannot flush, and one whose power is cut.

Source of the model of a power cut: Pillai et al., All file systems are not created equal (OSDI 2014). Data that was not
flushed may be torn. Names that were not flushed may be lost in any order.
"""

import errno
import os
import random
import signal
from pathlib import Path
from typing import BinaryIO

from azero.system import files
from azero.system.files import Disk


class FailingDisk(Disk):
    """Counts its steps, and fails at step number `step`. Files outside `folder` are written as ever."""

    def __init__(self, folder: Path, step: int, seed: int):
        self.folder, self.left, self.draw = folder, step, random.Random(seed)

    def has(self, path: Path) -> bool:
        return path.is_relative_to(self.folder)

    def is_time(self) -> bool:
        """Counts a step; returns whether the disk fails in it."""
        self.left -= 1
        return self.left < 0


class FullDisk(FailingDisk):
    """From some step on, only a part of each file finds room."""

    def write(self, file: BinaryIO, data: bytes) -> None:
        if self.has(Path(file.name)) and self.is_time():
            super().write(file, data[: self.draw.randrange(len(data))])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
        super().write(file, data)


class UnflushableDisk(FailingDisk):
    """From some step on, flushing fails."""

    def sync(self, descriptor: int, path: Path) -> None:
        if self.has(path) and self.is_time():
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        super().sync(descriptor, path)


class PowerCut(FailingDisk):
    """The power is cut at some step: the folder gets what a disk may hold then, and the process is killed."""

    def __init__(self, folder: Path, step: int, seed: int):
        super().__init__(folder, step, seed)
        self.unflushed: dict[Path, bytes] = {}  # data of files
        self.changes: list[tuple[Path, bytes | None]] = []  # names that are not flushed, with what they held before

    def write(self, file: BinaryIO, data: bytes) -> None:
        super().write(file, data)
        path = Path(file.name)
        if self.has(path):
            self.unflushed[path] = data
            self._tick()

    def sync(self, descriptor: int, path: Path) -> None:
        if self.has(path):
            self._tick()
        super().sync(descriptor, path)
        self.unflushed.pop(path, None)
        self.changes = [change for change in self.changes if change[0].parent != path]

    def replace(self, source: Path, target: Path) -> None:
        if self.has(target):
            self.changes.append((target, target.read_bytes() if target.exists() else None))
            if source in self.unflushed:
                self.unflushed[target] = self.unflushed.pop(source)
        super().replace(source, target)
        if self.has(target):
            self._tick()

    def remove(self, path: Path) -> None:
        if self.has(path) and path.exists():
            self.changes.append((path, path.read_bytes()))
        super().remove(path)
        if self.has(path):
            self._tick()

    def _tick(self) -> None:
        if self.is_time():
            self.cut()
            os.kill(os.getpid(), signal.SIGKILL)

    def cut(self) -> None:
        """Leaves in the folder what a disk may hold."""
        for path, data in self.unflushed.items():
            if path.exists():
                size = self.draw.randrange(len(data) + 1)
                rest = len(data) - size
                path.write_bytes(data[:size] + self.draw.choice((b"", bytes(rest), self.draw.randbytes(rest))))
        for path, before in reversed(self.changes):
            if self.draw.random() < 0.5:
                path.unlink(missing_ok=True) if before is None else path.write_bytes(before)


DISKS = {"full disk": FullDisk, "no flush": UnflushableDisk, "power cut": PowerCut}


def use_failing_disk(folder: Path, kind: str, step: int, seed: int) -> None:
    """Makes this process write to a disk that fails at a step."""
    files.DISK = DISKS[kind](folder, step, seed)


def damage_file(path: Path, draw: random.Random) -> str:
    """Damages a file in one of four ways; returns its name."""
    kind = draw.choice(("flip", "cut", "missing", "folder"))
    data = bytearray(path.read_bytes())
    if kind == "flip":
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes(data[: draw.randrange(len(data))] if kind == "cut" else data)
    return kind
