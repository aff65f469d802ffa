"""How the opinion of one position changed from net to net."""

import time
from typing import Any

from azero.errors import BadInput
from azero.games import State
from azero.interfaces.web.runs.folder import ShownRun
from azero.interfaces.web.runs.nets import Nets
from azero.runs.folder import NetFile

MOST_NETS = 48
"""Nets that are asked. If a run has more, evenly spaced ones are, with the first and the last."""

_PATIENCE_S = 1.0  # of a request, to open nets


def opinions_of(run: ShownRun, nets: Nets, state: State) -> dict[str, Any]:
    """Returns the opinions of a run's nets of a position, the oldest net first.

    To open a net may take a tenth of a second. So an answer may lack some: `is_whole` says whether it is the last one.
    The newest net is asked first, then others ever closer to each other.
    """
    chosen = spread(run.nets)
    opinions: list[dict[str, Any]] = []
    problems: list[str] = []
    begin, is_whole, has_opened = time.perf_counter(), True, False
    with nets.turn():
        for file in coarse_to_fine(chosen):
            if not nets.is_quick(file, state):
                if has_opened and time.perf_counter() - begin > _PATIENCE_S:
                    is_whole = False
                    continue
                has_opened = True
            try:
                (opinion,) = nets.opinions(file, [state])
                opinions.append({"iteration": file.iteration, **opinion._asdict()})
            except BadInput as error:
                problems.append(f"net {file.iteration}: {run.line_of(error)}")
    opinions.sort(key=lambda each: each["iteration"])
    return {"opinions": opinions, "nets": len(run.nets), "is_whole": is_whole, "problems": problems[:10]}


def spread(files: list[NetFile]) -> list[NetFile]:
    """Returns at most MOST_NETS of the nets, evenly spaced."""
    if len(files) <= MOST_NETS:
        return files
    step = (len(files) - 1) / (MOST_NETS - 1)
    return [files[round(k * step)] for k in range(MOST_NETS)]


def coarse_to_fine(files: list[NetFile]) -> list[NetFile]:
    """Returns the nets in an order whose beginnings are spread over all of them, the newest first."""
    newest_first = files[::-1]
    places = sorted(range(len(files)), key=lambda k: (-(k & -k) if k else -(1 << 30), k))
    return [newest_first[k] for k in places]
