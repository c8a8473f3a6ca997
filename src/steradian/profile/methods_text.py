"""The paragraph of methods that a paper may print, and what it cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import steradian
from steradian.profile.level_table import LevelTable, names_of
from steradian.wording import counted, listed, sentence

if TYPE_CHECKING:
    from steradian.profile.profile import Profile

CITATION = f"""\
You, K. and Cho, S. Geometric Information Decomposition for Weighted Empirical
Measures on the Sphere.

steradian, version {steradian.__version__}. Geometric information decomposition of weighted
directions. BSD 3-Clause.

@software{{steradian,
  title   = {{steradian: geometric information decomposition of weighted directions}},
  author  = {{{{The steradian developers}}}},
  version = {{{steradian.__version__}}}
}}
"""


def methods_paragraph(profile: Profile, table: LevelTable) -> str:
    """What was done, in the past tense and with every choice that moves a number."""
    p, space = profile, profile.moments.hierarchy.space
    names = listed([f"{k} ({name})" for k, name in enumerate(names_of(p), 1)])
    said = [
        f"The {counted(p.n, space.point_name)} were decomposed by geometric information "
        f"decomposition (You and Cho) with steradian {steradian.__version__}: nested "
        f"maximum-entropy laws on the {space.name} were fitted to their weighted moments, and the "
        "information that each level adds is the Kullback–Leibler divergence between neighbouring "
        f"fits, in nats. Levels were {names}.",
        _weights(p),
        f"The sampling design was taken as {p.design.name} ({p.design.sentence}).",
        _inference(table),
        _numerics(p),
    ]
    if p.shrinkage is not None:
        said.append(sentence(p.shrinkage.diagnostic.words))
    return " ".join(one for one in said if one)


def _weights(profile: Profile) -> str:
    if profile.design.equal_weights:
        return ""
    return f"Weights were worth {profile.ess:.1f} rows by Kish's effective size."


def _inference(table: LevelTable) -> str:
    if table.tests is None:
        return "No p-values are given, since the design defines none."
    options = table.tests.options
    noise = "Under noise alone the information of a level with q features is about q/2n nats."
    return (
        f"Each gap was tested against zero by its {options.statistic} statistic under the "
        f"{options.null} null (damped tilted covariance, exact tail of the weighted χ² law, "
        f"recalibrated by up to {options.replicates} draws where rows are few, seed "
        f"{options.seed}), with Holm's correction over levels; intervals are 95 % by an inverted "
        f"non-central χ² law. {noise}"
    )


def _numerics(profile: Profile) -> str:
    n = profile.numerics
    error = float((n.quadrature + n.moment_rounding + 0.5 * n.decrement**2).max())
    return (
        f"Moments were matched to {n.residual.max():.0e}, and the estimated numerical error of a "
        f"gap is at most {max(error, 1e-15):.0e} nats."
    )
