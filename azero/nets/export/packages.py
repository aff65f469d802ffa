"""The packages of the extra `onnx`, which `azero export` needs."""

from importlib.util import find_spec

from azero.errors import BadInput


def check_packages() -> None:
    """Raises BadInput if the packages of the extra `onnx` are not installed."""
    missing = [each for each in ("onnx", "onnxscript") if find_spec(each) is None]
    if missing:
        raise BadInput(
            f"azero export needs the package {missing[0]}, which is not installed; install azero with its extra onnx: "
            "pip install -c constraints.txt -e '.[onnx]'"
        )
