"""The seam of what information is relative to: a `Reference` law on a space.

All of the decomposition is relative to the law of zero information, which is uniform unless
somebody says otherwise. With another law p₀ of density p₀ against the uniform law ν, every ν is
replaced by ν₀ = p₀ ν: fits are p_L ∝ p₀ exp(λ·φ) and D_L = KL(p_L ‖ p₀). Nothing above needs to
know: a `ReferenceSpace` is the same space with ν₀ in the place of its uniform law, and all that is
asked of a space is how to integrate against that law and how to draw from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import RANK
from steradian.spaces.base import Chart, OneForm, Rule, Space, chart_of
from steradian.text.messages import Message, Rows, message

_SHOWN = 8  # rows that are named in an error


class Reference(ABC):
    """A law on a space that information is relative to. References are values.

    Demanded are `words`, `rules`, `rule`, `logpdf` and `sample`; what a law has not it leaves as
    it stands here.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, to stand after "relative to"."""

    @abstractmethod
    def rules(self) -> int:
        """How many rules there are, each finer than the one before; at least two."""

    @abstractmethod
    def rule(self, rung: int) -> Rule:
        """Points and weights of sum one that integrate smooth functions against the law."""

    @abstractmethod
    def logpdf(self, x: Array) -> Array | None:
        """Log-density against the uniform law at ``x`` (n, d), -inf where it is zero: (n,).

        None for a law without a density.
        """

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` draws, (n, d)."""

    @property
    def known_by(self) -> float:
        """Independent rows that it is known by; infinite where it is known exactly."""
        return np.inf

    @property
    def rough(self) -> bool:
        """Whether its rules converge slowly, so that fits are held to the noise of their sample."""
        return False

    @property
    def parts(self) -> IntArray:
        """Where in its finest rule, where that is rough, each of the independent ones begins.

        Empty where it is one.
        """
        return np.empty(0, dtype=np.int64)

    def missed_rows(self, x: Array) -> BoolArray:
        """Which of ``x`` (n, d) lie on peaks of the density between the nodes of rules, (n,)."""
        return np.zeros(len(x), dtype=bool)

    def turned_rule(self, rung: int, rng: np.random.Generator) -> Rule | None:
        """A rule like that of this rung with its nodes elsewhere, about any axis.

        Of a region that no symmetry of the space keeps; None for others.
        """
        return None

    @property
    def half_spaces(self) -> list[HalfSpace]:
        """Some that hold all of its support."""
        return []


class HalfSpace(NamedTuple):
    """Where ``offset + normal·x`` is not negative; it is zero on an edge."""

    offset: float
    normal: Array  # (d,)

    def edge(self, x: Array) -> BoolArray:
        """Which of ``x`` (n, d) lie on it, (n,)."""
        return np.asarray(np.abs(self.offset + x @ self.normal) <= RANK)


@runtime_checkable
class HasReference(Protocol):
    """A space with another law than the uniform one in its place."""

    @property
    def space(self) -> Space:
        """The space itself."""
        ...

    @property
    def reference(self) -> Reference:
        """The law in the place of the uniform one."""
        ...


@dataclass(frozen=True, slots=True)
class ReferenceSpace:
    """A space with the law of a reference in the place of its uniform law."""

    space: Space
    reference: Reference

    @property
    def d(self) -> int:
        return self.space.d

    @property
    def dimension(self) -> int:
        return self.space.dimension

    @property
    def name(self) -> str:
        return f"{self.space.name} relative to {self.reference.words}"

    @property
    def point_name(self) -> str:
        return self.space.point_name

    @property
    def log_area(self) -> float:
        return self.space.log_area

    @property
    def chart(self) -> Chart:
        """That of the space, where fits have densities to be drawn."""
        known = self.reference.logpdf(np.empty((0, self.d))) is not None
        return chart_of(self.space) if known else "none"

    def refusal(self, x: Array) -> Message | str:
        return self.space.refusal(x) or unseen_rows(self.reference, x)

    def centre(self, x: Array, weights: Array) -> Array:
        return self.space.centre(x, weights)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """Draws of the reference law, which stands in the place of the uniform one."""
        return self.reference.sample(n, rng)

    def symmetry(self, rng: np.random.Generator) -> Array:
        """The identity: of the symmetries of a space a law need not have any other."""
        return np.eye(self.d)

    def rules(self) -> int:
        return self.reference.rules()

    def rule(self, rung: int) -> Rule:
        return self.reference.rule(rung)


@dataclass(frozen=True, slots=True)
class _OneFormSpace(ReferenceSpace):
    """The same where several rows stand for one point."""

    def one_form(self, x: Array) -> Array:
        assert isinstance(self.space, OneForm)
        return self.space.one_form(x)


def reference_space(space: Space, reference: Reference) -> ReferenceSpace:
    """``space`` with the law of ``reference`` in the place of its uniform law."""
    several = isinstance(space, OneForm)
    return (_OneFormSpace if several else ReferenceSpace)(space, reference)


def underlying(space: Space) -> Space:
    """The space itself, whatever law stands in the place of its uniform one."""
    return underlying(space.space) if isinstance(space, HasReference) else space


def rough_parts(space: Space) -> IntArray:
    """Where the independent parts of the finest rule begin; empty where it has none."""
    reference: Reference | None = getattr(space, "reference", None)
    return np.empty(0, dtype=np.int64) if reference is None else reference.parts


def log_reference(space: Space, x: Array) -> Array | None:
    """Log-density of the law of zero information against the uniform one at ``x`` (n, d), (n,).

    None where it has no density.
    """
    if not isinstance(space, HasReference):
        return np.zeros(len(x))
    return space.reference.logpdf(x)


def reference_rows(space: Space) -> float:
    """Independent rows that the law of zero information is known by; infinite if exactly."""
    reference: Reference | None = getattr(space, "reference", None)  # `HasReference`, often asked
    return np.inf if reference is None else reference.known_by


def reference_words(space: Space) -> str:
    """What information is relative to, in words; empty where that is the uniform law."""
    return space.reference.words if isinstance(space, HasReference) else ""


def is_rough(space: Space) -> bool:
    """Whether rules of its law converge slowly."""
    return isinstance(space, HasReference) and space.reference.rough


def unseen(reference: Reference, x: Array) -> BoolArray:
    """Which of ``x`` (n, d) lie where the reference is zero, (n,)."""
    found = reference.logpdf(x)
    return np.zeros(len(x), dtype=bool) if found is None else np.asarray(found == -np.inf)


def unseen_rows(reference: Reference, x: Array) -> Message | str:
    """How many rows, and which, lie where the reference is zero; empty if none does."""
    return _named(unseen(reference, x), "where the reference is zero")


def missed_rows(reference: Reference, x: Array) -> Message | str:
    """How many rows, and which, lie on peaks that no rule of the reference sees; empty if none."""
    return _named(reference.missed_rows(x), "on a peak of the reference between all nodes")


def _named(which: BoolArray, where: str) -> Message | str:
    rows = np.flatnonzero(which)
    if not len(rows):
        return ""
    shown = Rows(tuple(rows[:_SHOWN].tolist()))
    more = ", …" if len(rows) > _SHOWN else ""
    lie = "1 row lies" if len(rows) == 1 else f"{len(rows)} of {len(which)} rows lie"
    words = "{lie} {where} ({rows}{more})"
    return message(words, lie=lie, where=where, rows=shown, more=more)


@dataclass(frozen=True, slots=True, eq=False)
class SampledReference(Reference):
    """The law of n₀ rows, of which the law behind them is known no better than that.

    Integrals are sums over the rows. What they miss of the law behind them is not an error of
    integration but noise, of the size of n₀ rows: tests take n n₀ / (n + n₀) for n, and intervals
    add Var_{p₀}(p_L / p₀) / n₀.
    """

    points: Array  # (n₀, d)
    weights: Array  # (n₀,), of sum one
    words: str = field(default="a sample")

    @property
    def known_by(self) -> float:
        return float(1.0 / (self.weights @ self.weights))

    def rules(self) -> int:
        return 2

    def rule(self, rung: int) -> Rule:
        return Rule(self.points, self.weights)

    def logpdf(self, x: Array) -> None:
        return None

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.points[rng.choice(len(self.points), n, p=self.weights)]
