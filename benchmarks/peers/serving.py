"""How a contestant answers the runner: for each line on stdin, a number of seconds, it prints one JSON line.

It uses only the standard library, because every contestant imports it in its own environment.
"""

import json
import sys
from collections.abc import Callable


def serve(measure: Callable[[float], dict[str, float]]) -> None:
    """Prints that it is ready, then answers every line until the input ends.

    Args:
      measure: plays for this many seconds, or as long as it needs, and returns its rates per second:
        {"simulations": ..., "evaluations": ...}. It is called once before, for compilation.
    """
    answers, sys.stdout = sys.stdout, sys.stderr  # output of libraries is not an answer
    measure(0.5)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(float(line))), file=answers, flush=True)
