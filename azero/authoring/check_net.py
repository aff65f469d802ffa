"""`azero check-net`: tries a net on a game, and measures it in each runtime."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import torch

from azero.bench.rates import Measure, rate, rates_in_turns
from azero.config.schema import DeviceConfig, NetConfig
from azero.errors import BadInput
from azero.games import Game
from azero.nets.architectures.contract import with_noise
from azero.nets.devices import device_type
from azero.nets.make import make_net
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.fastest import EXACT, TOLERANCE, Session, available_runtimes, measure_drift, open_runtime
from azero.nets.runtimes.session import ROWS

_SECONDS = 0.3  # per runtime


@dataclass(frozen=True)
class RuntimeReport:
    """A runtime with a net."""

    name: str  # of library and precision
    evaluations_per_s: float  # on one thread
    drift: float  # from fp32, see `measure_drift`; with random weights, since a new net's outputs are zero
    fault: str  # why it cannot run the net; empty if it can

    @property
    def is_used(self) -> bool:
        return not self.fault and self.drift <= TOLERANCE


@dataclass(frozen=True)
class NetReport:
    """The result of a check. The fields are those of `--json`."""

    net: str
    game: str
    parameters: int
    features_shape: tuple[int, int, int] | None  # what auxiliary heads learn from
    runtimes: list[RuntimeReport]

    def to_json(self) -> dict:
        """Returns the object that `azero check-net --json` prints."""
        return asdict(self)


def check_net(name: str, game: Game, device: DeviceConfig) -> NetReport:
    """Makes a net with the default settings for a game, and runs it in all runtimes of a device.

    Raises BadInput if there is no such net, or if a user's net does not do what a net should.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = with_noise(make_net(NetConfig(name=name), game))
    where = device_type(device.device)
    planes = np.resize(sample_positions(game), (ROWS, *game.planes_shape))
    drifts: dict[str, float] = {}
    faults: dict[str, str] = {}
    measures: dict[str, Measure] = {}
    for runtime in available_runtimes(where, net=net):
        if runtime.precision == "int8" and not net.is_quantizable:
            continue
        try:
            session = open_runtime(runtime, net, where, ROWS, 1)
            drifts[runtime.name] = measure_drift(net, session, ROWS)
            measures[runtime.name] = partial(rate, partial(_evaluate, session, planes))
        except RuntimeError as error:
            faults[runtime.name] = str(error).splitlines()[0]
    if EXACT.name in faults:
        raise BadInput(f"{EXACT.name} cannot run net {name!r} ({faults[EXACT.name]})")
    rates = {each: float(np.median(turns)) for each, turns in rates_in_turns(measures, _SECONDS).items()}
    runtimes = [
        *(RuntimeReport(each, rates[each], drift, "") for each, drift in drifts.items()),
        *(RuntimeReport(each, 0.0, 0.0, fault) for each, fault in faults.items()),
    ]
    size = sum(each.numel() for each in net.parameters())
    return NetReport(name, str(game), size, net.features_shape, runtimes)


def _evaluate(session: Session, planes: np.ndarray) -> int:
    session.run(planes)
    return len(planes)


def describe(report: NetReport) -> Iterator[str]:
    """Yields the lines of a report for people."""
    yield f"{report.net}, {report.game}: {report.parameters:,} parameters"
    for each in report.runtimes:
        if each.fault:
            yield f"  {each.name:<14} cannot run it: {each.fault}"
        else:
            drift = f"{each.drift:.2g} from fp32{'' if each.is_used else ', which is too far: it is not used'}"
            yield f"  {each.name:<14}{each.evaluations_per_s:>9,.0f} evaluations/s on one thread, {drift}"
