"""The metrics that a comparison shows, in the order in which it shows them."""

from typing import NamedTuple


class Measure(NamedTuple):
    """A metric of docs/metrics.md."""

    key: str
    title: str  # of its panel
    unit: str
    heading: tuple[str, str] | None  # of its column in the table, in two lines; None: it is not in the table
    digits: int  # after the decimal point, in the table
    scale: float = 1.0  # from the metric to the unit
    better: int = 0  # 1 if higher is better, -1 if lower, 0 if neither is

    def best(self, values: list[float]) -> float:
        """Returns the best of some values."""
        return max(values) if self.better > 0 else min(values)

    def show(self, value: float) -> str:
        """Returns a value in the measure's unit."""
        return f"{value * self.scale:,.{self.digits}f}"


SCORE = Measure("evaluation/score", "score against the opponent", "%", ("score", "%"), 0, 100, better=1)
RATING = Measure("gate/rating", "rating above the first net", "Elo", ("rating", "Elo"), 0)
MEASURES = (
    SCORE,
    RATING,
    Measure("benchmark/search_mistakes", "mistakes with search", "%", ("mistakes", "search, %"), 1, 100, better=-1),
    Measure("benchmark/net_mistakes", "mistakes of the net alone", "%", ("mistakes", "net, %"), 1, 100, better=-1),
    Measure("fresh/policy_agreement", "net agrees with the search", "%", ("agree", "%"), 0, 100, better=1),
    Measure("train/policy_loss", "policy loss", "nats", ("policy", "loss"), 3),
    Measure("train/value_loss", "value loss", "nats", ("value", "loss"), 3),
    Measure("selfplay/mean_plies", "length of games", "plies", None, 1),
    Measure("selfplay/positions_per_s", "self-play", "positions per second", None, 0),
)
