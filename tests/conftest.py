"""Settings of every test: the same drawn examples each run, and nothing left behind in the working folder."""

import signal
import tempfile
from pathlib import Path

import hypothesis
import hypothesis.configuration

from azero.compiler import notice
from azero.games.user import timeouts

notice.PATIENCE_S = 1e6  # what goes to stderr is not to depend on what has been compiled before
timeouts.COMPUTE_S = timeouts.ELAPSED_S = 1e6  # nor a verdict on rules on how busy the machine is

signal.signal(signal.SIGINT, signal.default_int_handler)  # started in the background, a shell's child ignores it

hypothesis.configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "azero-hypothesis")
hypothesis.settings.register_profile("azero", derandomize=True, database=None, deadline=None, max_examples=200)
hypothesis.settings.load_profile("azero")
