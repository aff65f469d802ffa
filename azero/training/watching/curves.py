"""Curves for TensorBoard: scalars, written immediately and in this thread, so that a full disk raises an error."""

import os
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


class Curves:
    """An event file in `folder`. From `first_step` on it replaces the points of earlier files."""

    def __init__(self, folder: Path, first_step: int):
        folder.mkdir(parents=True, exist_ok=True)
        self._file = open(folder / f"events.out.tfevents.{time.time():.0f}.azero.{os.getpid()}", "wb")  # noqa: SIM115
        self._records = RecordWriter(self._file)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        self._write(Event(wall_time=time.time(), step=first_step, session_log=SessionLog(status=SessionLog.START)))

    def add(self, values: dict[str, float], step: int) -> None:
        """Adds a point to each of the named curves."""
        points = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=points)))

    def close(self) -> None:
        self._file.close()

    def _write(self, event: Event) -> None:
        self._records.write(event.SerializeToString())
        self._file.flush()
