"""What a command that is given bad input does."""


def assert_bad_input(result, *parts):
    """Asserts exit code 2, nothing on stdout, and one line on stderr with all of the parts."""
    code, output, errors = result
    assert (code, output) == (2, ""), errors
    assert errors.startswith("azero: ") and errors.count("\n") == 1 and errors.endswith("\n"), errors
    assert "Traceback" not in errors
    for part in parts:
        assert part in errors
