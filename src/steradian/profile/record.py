"""A profile as plain numbers and lists."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.fitting.fitted import Numerics
from steradian.io.records import without_nan
from steradian.numerics.arrays import Array
from steradian.references.base import reference_words

if TYPE_CHECKING:
    from steradian.profile.profile import Profile


def record_of(profile: Profile) -> dict[str, Any]:
    """Every number of a profile, ready for JSON."""
    return {
        "n": profile.n,
        "d": profile.d,
        "space": profile.moments.hierarchy.space.name,
        "reference": reference_words(profile.moments.hierarchy.space) or "uniform",
        "hierarchy": profile.moments.hierarchy.to_dict()["kind"],
        "kish_ess": profile.ess,
        "mean_direction": _unit(profile.moments.mean) if profile.has_mean else None,
        "resultant_length": profile.resultant if profile.has_mean else None,
        "vmf_kappa": profile.kappa if profile.has_kappa else None,
        "read": _read(profile),
        "levels": profile.levels.tolist(),
        "level_names": list(profile.moments.hierarchy.level_names[: len(profile.levels)]),
        "dims": profile.dims.tolist(),
        "deficits": profile.deficits.tolist(),
        "gaps": profile.gaps.tolist(),
        "noise": without_nan(profile.noise.tolist()),
        "debiased": without_nan(profile.debiased.tolist()),
        "uncertainty": profile.uncertainty.tolist(),
        "lam": [fit.lam.tolist() for fit in profile.fits[1:]],
        "psi": [fit.psi for fit in profile.fits[1:]],
        "numerics": {
            name: np.asarray(getattr(profile.numerics, name)).tolist()
            for name in Numerics.__slots__
        },
        "stopped": None if profile.stopped is None else profile.stopped.to_dict(),
        **({} if profile.chosen is None else {"chosen_levels": profile.chosen}),
        "shrinkage": asdict(profile.shrinkage) if profile.shrinkage else None,
        "ambient": profile.ambient,
        "design": profile.design.name,
        "design_sentence": profile.design.sentence,
        "unit": "nats",
    }


def _read(profile: Profile) -> str | None:
    """What was understood of the source."""
    reading = profile.reading
    return None if reading is None else reading.words


def _unit(vector: Array) -> list[float]:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).tolist()
