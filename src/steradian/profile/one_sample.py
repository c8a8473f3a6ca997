"""The profile of one sample: data in, fits of all levels, a `Profile` out."""

from __future__ import annotations

import time
from typing import Any

from numpy.typing import ArrayLike

from steradian.data.source import as_source, measured, support_of
from steradian.designs import Design
from steradian.designs.registry import stated_design
from steradian.diagnostics import Diagnostic
from steradian.fitting.nested import fit_levels, within_noise
from steradian.fitting.shrinkage import Shrinkage, as_shrinkage
from steradian.hierarchies import Hierarchy
from steradian.profile.profile import Profile
from steradian.profile.reference import relative_hierarchy


def profile(  # noqa: PLR0913 - what people say of a sample
    data: Any,
    *,
    weights: ArrayLike | str | None = None,
    levels: int | None = None,
    hierarchy: Hierarchy | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> Profile:
    """Decompose what a weighted set of directions tells, level by level, in nats.

    Parameters
    ----------
    data : (n, d) array_like, DataFrame, Directions or Moments
        Unit vectors, one per row. A frame with named columns is read by name, like ``lon, lat``
        or ``dec, inc``; `read_directions` takes it with what its names do not say.
    weights : array_like or column name, optional
        Non-negative weights of any scale, when ``data`` does not carry them.
    levels : int or "auto", optional
        Highest level; ``"auto"`` climbs as far as the data carry, see `steradian.Spectrum`. By
        default up to 4 on the circle and the two-sphere and 2 above,
        stopping at the last level that exists and saying so. When given, a level that does
        not exist is an error.
    hierarchy : Hierarchy, optional
        The nested features, such as ``sr.Axial(3, 2)`` for axes; replaces ``levels``. Chosen by
        some of the rows, as by ``sr.Zonal("mean", 2, split=0.5)``, it gives a `SplitProfile`.
    design : Design or str, optional
        How the sample came about, from `steradian.designs`: ``"iid"`` (the default without
        weights), ``"fixed"``, ``"importance"``, ``"chain"``, ``Clusters(ids)``, ``Survey(…)``,
        ``Known(…)``, or ``"descriptive"`` (the default with weights: no inference).
    shrinkage : Shrinkage or float, optional
        Mix the data with a law that has a fit; a number is the share of the uniform law.
    reference : MaxEntFit, callable, Mask, HealpixMap or Directions, optional
        The law of zero information, uniform unless given: a fit or `FisherBingham`, a density as a
        function of points (n, d), what a `Mask` leaves, a map of the sky, or a sample of it. All
        that follows is relative to it.

    Returns
    -------
    Profile

    Raises
    ------
    BoundaryError, ResolutionError, ConvergenceError
        A level has no usable fit; ``error.profile`` holds the levels below.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> p.gaps.round(3).tolist()
    [0.067, 1.633]
    """
    began = time.perf_counter()
    explicit = levels is not None or hierarchy is not None
    source = as_source(data, weights, hierarchy)
    if reference is not None:
        hierarchy, levels = relative_hierarchy(reference, source, levels, hierarchy), None
    moments, directions = measured(source, levels, hierarchy)
    plan = stated_design(design, data, directions, moments)
    mixing = as_shrinkage(shrinkage)
    fits = fit_levels(moments.hierarchy, moments.stack(), support_of(directions), mixing)
    nested = within_noise(fits, lambda: moments.ess)
    ambient = directions.ambient if directions else moments.hierarchy.space.d

    def finished(sound: int, stopped: Diagnostic | None) -> Profile:
        whole = sound == moments.hierarchy.levels
        seen = moments if whole else moments.up_to(sound)
        kept = nested if whole else nested.up_to(seen.hierarchy)
        elapsed = time.perf_counter() - began
        return Profile(seen, kept, stopped, mixing, ambient, elapsed, plan, directions)

    failure = nested.failures.get(0)
    if failure is None:
        return finished(moments.hierarchy.levels, None)
    error = failure.error()
    if failure.level > 1 and not explicit:
        return finished(failure.level - 1, error.diagnostic)
    found = failure.level - 1
    error.profile = finished(found, error.diagnostic) if found else None
    raise error
