"""Which test of a zero gap: null, statistic, covariance, method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from steradian.arguments import seed_number, shown, whole_number
from steradian.errors import InvalidArgument
from steradian.significance.effort import Patience
from steradian.significance.scores import Covariance

Null = Literal["moment", "model"]
Statistic = Literal["score", "gap"]
Method = Literal["exact", "simulate", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Options:
    """Which test; see `Profile.tests`."""

    null: Null = "moment"
    statistic: Statistic = "score"
    covariance: Covariance | None = None
    method: Method | None = None
    replicates: int = 999
    seed: int = 0
    patience: Patience = field(
        default_factory=Patience, compare=False
    )  # answers do not depend on it

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("null", self.null, ("moment", "model")),
            ("statistic", self.statistic, ("score", "gap")),
            ("covariance", self.covariance, (None, "damped", "tilted", "null", "empirical")),
            ("method", self.method, (None, "exact", "simulate", "bootstrap")),
        ):
            if not (value is None or isinstance(value, str)) or value not in choices:
                known = ", ".join(repr(c) for c in choices if c)
                raise InvalidArgument(f"{name} is {shown(value)}; choose {known}")
        whole_number(self.replicates, "replicates", least=19)
        seed_number(self.seed)
        if self.statistic == "gap" and self.covariance in {"damped", "tilted"}:
            raise InvalidArgument(
                "the fitted gap does not follow the tilted law (it rejects far too often); "
                "use statistic='score', or covariance='null'"
            )
        if self.null == "model" and self.covariance is not None:
            raise InvalidArgument("null='model' brings its own covariance; leave out covariance=")

    @property
    def kind(self) -> Covariance:
        """The covariance of the moment null."""
        return self.covariance or ("damped" if self.statistic == "score" else "null")

    @property
    def drawn(self) -> Method | None:
        """The method, if p-values come from draws by request."""
        return self.method if self.method in {"simulate", "bootstrap"} else None

    @property
    def tilts(self) -> bool:
        """Whether a tilted covariance was asked for by name."""
        return self.covariance in {"damped", "tilted"}
