"""Settings of every test: drawn examples are the same each run, and leave nothing behind."""

import hypothesis

hypothesis.settings.register_profile("azero", derandomize=True, database=None, deadline=None, max_examples=100)
hypothesis.settings.load_profile("azero")
