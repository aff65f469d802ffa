"""Settings of all tests: the same random examples in each run, and no files left in the working folder."""

import signal
import tempfile
from pathlib import Path

import hypothesis
import hypothesis.configuration

from azero.compiler import notice
from azero.games.user import timeouts

notice.PATIENCE_S = 1e6  # stderr should not depend on what was compiled before
timeouts.COMPUTE_S = timeouts.ELAPSED_S = 1e6  # checks of rules should not depend on the machine's load

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background process ignores it

hypothesis.configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "azero-hypothesis")
hypothesis.settings.register_profile("azero", derandomize=True, database=None, deadline=None, max_examples=200)
hypothesis.settings.load_profile("azero")
