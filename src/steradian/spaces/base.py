"""What a space must provide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import AnyArray, Array
from steradian.spaces.classical import Classical
from steradian.text.messages import Message

Chart = Literal["circle", "sphere", "torus", "none"]
_VECTOR = {"circle": 2, "sphere": 3, "torus": 2}  # coordinates of each unit vector of a row


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """Points and weights that integrate against the uniform law.

    Attributes
    ----------
    points : array, (N, d)
        The nodes.
    weights : array, (N,)
        Of sum one.
    """

    points: Array  # (N, d)
    weights: Array  # (N,), of sum one

    def __post_init__(self) -> None:
        """Rules are kept and shared: nobody's function may write into the nodes."""
        for name in ("points", "weights"):
            shared = np.asarray(getattr(self, name)).view()
            shared.flags.writeable = False
            object.__setattr__(self, name, shared)


class Space(Protocol):
    """A compact manifold in R^d with its uniform law of mass one.

    Spaces are values: equal ones compare equal and hash alike, as frozen dataclasses do. Any object
    that offers what stands here is one. `OneForm`, `OtherForms` and `EvenCoordinates` are what a
    space may offer besides.

    Examples
    --------
    >>> import steradian as sr
    >>> space: sr.Space = sr.Torus(2)
    >>> space.d, space.dimension, space.rules()
    (4, 2, 9)
    """

    def __hash__(self) -> int:
        """What equal spaces share: draws and second moments are kept by it."""
        ...

    @property
    def d(self) -> int:
        """Ambient dimension: a point is a row of d numbers."""
        ...

    @property
    def dimension(self) -> int:
        """Its own dimension."""
        ...

    @property
    def name(self) -> str:
        """How people call it."""
        ...

    @property
    def point_name(self) -> str:
        """What one of its points is called: "direction", "axis", "rotation"."""
        ...

    @property
    def log_area(self) -> float:
        """Log of its area, in the units that make radii one."""
        ...

    def refusal(self, x: Array) -> Message | str:
        """What is wrong with the first row of ``x`` (n, d) that is no point; empty if all are."""
        ...

    def centre(self, x: Array, weights: Array) -> Array:
        """What second moments are taken about: E x, or nothing where points have no sign.

        For weights (n,) or (B, n) of sum one: (d,) or (B, d).
        """
        ...

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` uniform draws, (n, d)."""
        ...

    def symmetry(self, rng: np.random.Generator) -> Array:
        """A random symmetry: an orthogonal matrix (d, d) that takes points to points, x → x Aᵀ."""
        ...

    def rules(self) -> int:
        """How many `rule`s there are, each finer than the one before; none above low dimension.

        Where there are none, integrals of one's own functions are means over uniform draws.
        """
        ...

    def rule(self, rung: int) -> Rule:
        """A rule for smooth functions."""
        ...


def refuse_no_space(value: Any) -> None:
    """Refuse what is no space, by what all of them offer."""
    offered = ("d", "dimension", "log_area", "name", "rules", "uniform")
    if isinstance(value, type) or not all(hasattr(value, each) for each in offered):
        raise InvalidArgument(f"space is {shown(value)}; give a space, like sr.Sphere()")


@runtime_checkable
class OneForm(Protocol):
    """A space, several rows of which may stand for one point: of a length or sign that is off."""

    def one_form(self, x: Array) -> Array:
        """The one row for each point ``x`` (n, d); rows that have that form are not touched."""
        ...


def has_no_sign(space: Space) -> bool:
    """Whether x and -x are one point, by a few of them."""
    if not isinstance(space, OneForm):
        return False
    x = space.uniform(4, np.random.default_rng(0))
    return bool(not space.refusal(-x) and (space.one_form(-x) == space.one_form(x)).all())


@runtime_checkable
class OtherForms(Protocol):
    """A space whose points people also hold in other forms than rows of d numbers."""

    def rows_of(self, points: Any) -> Any:
        """Rows (n, d) of points in any form; rows as they are."""
        ...


@runtime_checkable
class EvenCoordinates(Protocol):
    """A space whose uniform law has mean zero and uncorrelated coordinates of one variance."""

    @property
    def coordinate_variance(self) -> float:
        """The variance of each coordinate under the uniform law."""
        ...


@runtime_checkable
class KnowsClassics(Protocol):
    """A space, of whose points textbooks print certain numbers."""

    def classical(self, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:
        """Those of ``n`` points of equal weight with E x (d,) and E xxᵀ (d, d)."""
        ...


def classical_values(space: Space, n: int, mean: Array, second: Array) -> tuple[Classical, ...]:
    """What textbooks print of so many points of equal weight; nothing where they print nothing."""
    known = np.isfinite(mean).all() and np.isfinite(second).all()
    return space.classical(n, mean, second) if known and isinstance(space, KnowsClassics) else ()


@runtime_checkable
class HasChart(Protocol):
    """A space whose points and densities pictures know how to draw."""

    @property
    def chart(self) -> Chart:
        """What they are drawn on: rows of R² on a circle, rows of R³ on maps of the sphere, rows of
        R⁴ as two angles on a torus; ``"none"`` where there is no picture.
        """
        ...


def on_chart(chart: Chart, y: Array) -> Array:
    """The points of a chart nearest to rows ``y`` (n, d): each of their vectors of unit length.

    Examples
    --------
    >>> import numpy as np
    >>> on_chart("torus", np.array([[2.0, 0.0, 0.0, 0.5]])).tolist()
    [[1.0, 0.0, 0.0, 1.0]]
    """
    vectors = y.reshape(len(y), -1, _VECTOR[chart])
    return np.asarray((vectors / np.linalg.norm(vectors, axis=2, keepdims=True)).reshape(y.shape))


def chart_of(space: Space) -> Chart:
    """What points of a space are drawn on; ``"none"`` where it does not say."""
    return space.chart if isinstance(space, HasChart) else "none"


@runtime_checkable
class Condenses(Protocol):
    """A space where very many points are soon replaced by few nodes that have their sums."""

    def condensed(self, x: Array, weights: Array) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (2, N), some negative: Σ W f = Σ w f(x) for smooth functions f.

        The second masses are those of a lower degree: where they give another sum, f is not smooth
        enough for the first.
        """
        ...


def a_point(space: Space) -> str:
    """What one point is called, with its article: "an axis", "a rotation"."""
    article = "an" if space.point_name[:1] in "aeiou" else "a"
    return f"{article} {space.point_name}"


class HarmonicSpace(Space, Protocol):
    """A unit sphere, where harmonics are at hand."""

    def size(self, degree: int) -> int:
        """Number of harmonics of degree 0..degree."""
        ...

    def harmonics(self, x: AnyArray, degree: int) -> AnyArray:
        """Orthonormal harmonics of degree 0..degree at ``x`` (n, d): (n, size)."""
        ...


class Grid(Protocol):
    """A quadrature rule for the uniform law, with its harmonic transforms.

    Functions on the grid are stacks (B, nodes); harmonic coefficients are stacks too.
    """

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        ...

    @property
    def reach(self) -> int:
        """Highest degree of the harmonics it integrates exactly."""
        ...

    @property
    def points(self) -> Array:
        """The nodes as unit vectors, (nodes, d)."""
        ...

    @property
    def weights(self) -> Array:
        """Quadrature weights, (nodes,), of sum one."""
        ...

    def synthesize(self, lam: Array) -> Array:
        """Σ_k lam_k φ_k at the nodes; ``lam`` (B, q) without the constant: (B, nodes)."""
        ...

    def analyze(self, values: Array, degree: int) -> Array:
        """∫ values φ dν for degree 0..degree: (B, size(degree))."""
        ...

    def unresolved(self, density: Array, width: int) -> Array:
        """Estimated quadrature error of densities at the nodes, from their own spectra, (B,).

        ``width`` is the period with which the spectra may oscillate, in degrees.
        """
        ...


class GriddedSpace(HarmonicSpace, Protocol):
    """A space of low dimension, where a grid integrates anything smooth."""

    def sums(self, x: Array, weights: Array | None, degree: int) -> Array:
        """Σ_i w_i φ(x_i), degree 0..degree, without the feature matrix: (size,).

        Without ``weights`` each is one.
        """
        ...

    def grid(self, rung: int) -> Grid:
        """The grid of this rung of the ladder; higher rungs resolve more."""
        ...

    def rungs(self) -> int:
        """How many rungs the node budget allows."""
        ...

    def fine_rungs(self) -> int:
        """How many there are with those whose features cannot be held at all nodes."""
        ...
