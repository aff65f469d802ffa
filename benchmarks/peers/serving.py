"""How a contestant answers the runner: to each line on stdin, a number of seconds, one JSON line on stdout.

Only the standard library is used, since every contestant imports this in an environment of its own.
"""

import json
import sys
from collections.abc import Callable


def serve(measure: Callable[[float], dict[str, float]]) -> None:
    """Says that it is ready, then answers every line, until there are no more.

    Args:
      measure: plays for that many seconds, or for as long as it needs, and returns what it did a second:
        {"simulations": ..., "evaluations": ...}. Called once before, for nothing: it compiles what there is to compile.
    """
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    measure(0.5)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(float(line))), file=answers, flush=True)
