"""The net as an `Evaluator` of searches, opened with the fastest runtime."""

from azero.config.schema import DeviceConfig
from azero.nets.architectures.contract import Net
from azero.nets.runtimes.choice import open_session, pick_device
from azero.nets.session_evaluator import ROWS, SessionEvaluator


class NetEvaluator(SessionEvaluator):
    """Evaluates batches of positions with a net, in the fastest runtime that the settings allow."""

    def __init__(self, net: Net, config: DeviceConfig, rows: int = ROWS, num_threads: int = 1):
        self.is_on_device = pick_device(config.device).type != "cpu"
        runtime, session = open_session(net, config, rows, num_threads)
        super().__init__(runtime, session, 0 if self.is_on_device else rows, num_threads)
