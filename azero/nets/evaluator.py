"""A net as an `Evaluator` of searches, in the fastest runtime."""

from azero.config.schema import DeviceConfig
from azero.nets.devices import device_type
from azero.nets.runtimes.fastest import open_session
from azero.nets.runtimes.library import LIBRARIES, Runnable
from azero.nets.runtimes.session import ROWS, SessionEvaluator


class NetEvaluator(SessionEvaluator):
    """Evaluates batches of positions with a net, in the fastest runtime that the settings allow."""

    def __init__(self, net: Runnable, config: DeviceConfig, rows: int = ROWS, num_threads: int = 1):
        self.is_on_device = device_type(config.device) != "cpu"
        runtime, session = open_session(net, config, rows, num_threads)
        fills_up = not LIBRARIES[runtime.library].takes_any_rows
        super().__init__(runtime, session, 0 if self.is_on_device else rows, num_threads, fills_up)
