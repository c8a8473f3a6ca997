"""In what the groups of a comparison differ, how sure that is, and what else to know."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steradian.diagnostics import LIKELY_BELOW, Diagnostic, Verdict, verdict_of
from steradian.errors import SteradianError
from steradian.inference.effort import SOON
from steradian.inference.group_tests import own_lengths
from steradian.numerics.tolerances import USABLE_DEFICIT
from steradian.text.numbers import digits
from steradian.text.places import axis_and_share, in_words, points_somewhere, strongest_axis

if TYPE_CHECKING:
    from steradian.comparison import Comparison
    from steradian.decomposition import Profile
    from steradian.inference.covariate_tests import RegressionTests
    from steradian.inference.group_tests import ComparisonTests
    from steradian.inference.sample import GroupedSample
    from steradian.regression import Regression


_TOLD_GROUPS = 5  # whose pairs are named


def default_tests(c: Comparison) -> tuple[ComparisonTests | None, Diagnostic | None]:
    """The default tests, or why there are none."""
    if len(c.names) < 2:
        return None, Diagnostic("one_group")
    if not c.design.defines_inference:
        return None, Diagnostic("design_to_state", data={"design": c.design.name})
    try:
        return c.tests(), None
    except SteradianError as error:
        return None, error.diagnostic


@dataclass(frozen=True, slots=True)
class Difference:
    """A level or a part of one: whether groups differ in it.

    ``sure`` is the verdict; ``size`` what it is worth, where there is something.
    """

    name: str
    level: int
    sure: Verdict
    pvalue: float
    size: Diagnostic | None = None
    shape: bool = False  # what is left beyond direction and concentration
    of_means: bool = False  # what only groups with a mean can differ in

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        size = {} if self.size is None else {"size": self.size.nested}
        own = {"name": self.name, "level": self.level, "shape": self.shape}
        return {**own, "sure": str(self.sure), "pvalue": self.pvalue, **size}


def differences(
    c: Comparison | Regression, tests: ComparisonTests | RegressionTests
) -> tuple[Difference, ...]:
    """Every level with its verdict; level 1 by its parts where it is there and these are too."""
    found: list[Difference] = []
    for k, name in enumerate(c.hierarchy.level_names):
        pvalue = float(tests.pvalue_holm[k])
        sure = verdict_of(pvalue)
        if sure is Verdict.CLEAR and _doubted(c, tests, k):
            sure = Verdict.LIKELY
        parts = _parts(c, tests) if k == 0 and sure in (Verdict.CLEAR, Verdict.LIKELY) else []
        data = {"of_level": k + 1, "nats": float(c.between[k])}
        size = Diagnostic("size_of_level", data=data)
        split = c.hierarchy.level_one_parts is not None
        shape, of_means = k == 1 and split, k == 0 and split
        found += parts or [Difference(name, k + 1, sure, pvalue, size, shape, of_means)]
    return tuple(found)


def _parts(
    c: Comparison | Regression, tests: ComparisonTests | RegressionTests
) -> list[Difference]:
    """The parts of level 1, direction first; none where it does not differ in any of them."""
    parts = []
    for k, (part, pvalue) in enumerate(tests.parts_holm.items()):
        if np.isnan(pvalue):
            continue
        sure = Verdict.NOISE if pvalue > LIKELY_BELOW else verdict_of(pvalue)
        size = part_size(c, tests, part) if sure in (Verdict.CLEAR, Verdict.LIKELY) else None
        parts.append(Difference(part, 1, sure, pvalue, size, of_means=k == 0))
    return parts if any(one.size is not None for one in parts) else []


def _doubted(c: Comparison | Regression, tests: ComparisonTests | RegressionTests, k: int) -> bool:
    """Whether one row carries a level, and the interval of its size begins at zero."""
    heavy = any(
        one.code == "outweighed" and one.level == k + 1 and "part" not in one.data
        for one in tests.diagnostics
    )
    return heavy and not c.intervals().low[k] > 0.0


def verdict(c: Comparison, tests: ComparisonTests | None) -> tuple[Diagnostic, ...]:
    """In what the groups differ, in what not, and whether they share one distribution."""
    if len(c.names) < 2:
        return (Diagnostic("one_group_only"),)
    if tests is None:
        top = int(np.argmax(c.between))
        data = {"total": c.total, "level": top + 1, "name": c.hierarchy.level_names[top]}
        return (Diagnostic("most_between", data={**data, "nats": float(c.between[top])}),)
    every = differences(c, tests)
    there = [one for one in every if one.sure in (Verdict.CLEAR, Verdict.LIKELY)]
    without = [one for one in every if one.sure is Verdict.NOISE]
    unknown = [one for one in every if one.sure is Verdict.UNJUDGED]
    ways = [one for one in without if one.of_means]
    lost = without_mean(c) if ways else []
    not_found = [one for one in without if not (lost and one in ways)]
    said: list[Diagnostic] = []
    data = {"found": _plain(there), "not_found": _plain(not_found)}
    if there:
        code = "groups_differ_but_not" if not_found else "groups_differ"
        said.append(Diagnostic(code, data=data))
    elif not_found:
        said.append(Diagnostic("groups_do_not_differ", data=data))
    if lost:
        own = {"groups": lost, "pvalue": ways[0].pvalue}
        said.append(Diagnostic("groups_without_direction", data=own))
    if unknown:
        said.append(Diagnostic("differences_not_testable", data={"levels": _plain(unknown)}))
    return (*said, *_one_distribution(tests.any_pvalue), *_pairs(c, tests))


def _plain(some: list[Difference]) -> list[dict[str, Any]]:
    return [one.to_dict() for one in some]


def headline(c: Comparison) -> Diagnostic:
    """In what groups differ, and how surely, without the numbers."""
    tests, refused = default_tests(c)
    if tests is None:
        assert refused is not None  # nothing is tested
        return refused
    every = differences(c, tests)
    there = [one for one in every if one.sure in (Verdict.CLEAR, Verdict.LIKELY)]
    if there:
        return Diagnostic("differ_in", data={"found": _plain(there)})
    if any(one.sure is Verdict.NOISE for one in every):
        return Diagnostic("differ_in_no_level")
    return Diagnostic("differences_not_testable", data={"levels": _plain(list(every))})


def _one_distribution(pvalue: float) -> tuple[Diagnostic, ...]:
    """How sure it is that the groups do not share one distribution."""
    sure = verdict_of(pvalue)
    if sure is Verdict.UNJUDGED:
        return ()
    code = f"one_distribution_{sure}"
    return (Diagnostic(code, data={"pvalue": float(pvalue)}),)


def _pairs(c: Comparison, tests: ComparisonTests) -> tuple[Diagnostic, ...]:
    """Which two groups differ, where there are several that do not share one distribution."""
    if len(c.names) < 3 or not tests.any_pvalue <= LIKELY_BELOW:
        return ()
    if len(c.names) > _TOLD_GROUPS:
        return (Diagnostic("pairs_on_request"),)
    corrected = c.pairs().pvalue_holm
    found = [
        {"groups": [c.names[g], c.names[h]], "pvalue": float(corrected[g, h])}
        for g, h in combinations(range(len(c.names)), 2)
        if corrected[g, h] <= LIKELY_BELOW
    ]
    return (Diagnostic("pairs_differ", data={"pairs": found}),) if found else ()


def about_label(c: Comparison, tests: ComparisonTests | None) -> Diagnostic:
    """What a point carries about its group, and what random labels would give."""
    known, point = c.label_information, c.hierarchy.space.point_name
    if len(c.names) < 2:
        return Diagnostic("no_label_information")
    data: dict[str, Any] = {"point": point, "nats": known.value, "entropy": known.entropy}
    data |= {"share": known.share, "noise": known.noise, "error": known.error}
    if not known.error > USABLE_DEFICIT:
        data["error"] = None
    significant = tests is None or any_significant(tests)
    code = "label_information" if significant else "label_information_not_significant"
    code = f"{code}_without_noise" if np.isnan(known.noise) else code
    return Diagnostic(code, data=data)


def any_significant(tests: ComparisonTests) -> bool:
    """Whether anything says that the groups differ: the test of one distribution, or a level."""
    every = np.append(tests.pvalue_holm, tests.any_pvalue)
    return bool((every < LIKELY_BELOW).any())


_GEOMETRY = "across the pooled mean", "along the pooled mean"


def part_rows(c: Comparison, tests: ComparisonTests | None) -> list[tuple[str, str, float]]:
    """Name, nats and corrected p-value of each row of a table; NaN where nothing was tested."""
    names, nats = list(c.level1), [digits(value) for value in c.level1.values()]
    if not names:
        return []
    found = {} if tests is None else tests.parts_holm
    known = [found.get(name, np.nan) for name in names]
    if tests is not None and tests.far_apart:
        known, last = [known[0], np.nan], [(names[1], "", known[1])]
        return [*zip(_GEOMETRY, nats, known, strict=True), *last]
    return list(zip(names if found else _GEOMETRY, nats, known, strict=True))


def part_size(
    c: Comparison | Regression, tests: ComparisonTests | RegressionTests, part: str
) -> Diagnostic:
    """How large a part is."""
    data: dict[str, Any] = {"nats": float(c.level1[part])}
    if not tests.far_apart:
        return Diagnostic("size_of_part", data=data)
    if part == next(iter(c.level1)):
        return Diagnostic("size_across", data=data)
    own = own_lengths(cast("GroupedSample", c.sample))
    assert own is not None  # it was tested
    least, most = float(own.resultants.min()), float(own.resultants.max())
    return Diagnostic("size_in_lengths", data={"least": least, "most": most})


def part_notes(tests: ComparisonTests) -> list[Diagnostic]:
    """What was tested in place of a part, where groups point far apart."""
    if not tests.far_apart:
        return []
    return [Diagnostic("lengths_compared", 1, {"part": list(tests.parts)[1]})]


def shared_note(c: Comparison) -> list[Diagnostic]:
    """Why there is no noise level, where units have rows of several groups."""
    if len(c.names) < 2 or not c.sample.has_shared_units or np.isfinite(c.noise).all():
        return []
    return [Diagnostic("noise_of_shared_units")]


_STANDARD_ERRORS = 3.0  # at most, of a mean of uniform rows: a shorter one points nowhere
_MEAN, _AXIS = 1, 2  # levels that see the mean direction, and the axis
_MOST_ASKED = 8  # groups of which each is tested by itself


def pointing(profile: Profile) -> str:
    """Its mean direction where level 1 is significant, else the axis where level 2 is.

    Of axes without a sign the axis, which level 1 sees. Empty where neither is, or where nobody
    reads such directions. Where the design defines no test, a mean of three standard errors counts.
    """
    if points_somewhere(profile) and mean_is_clear(profile):
        return in_words(profile).lstrip(": ")
    told = _told(profile)
    if told is None:
        axis, _ = axis_and_share(profile)
        return f"axis {axis}" if axis else ""
    return strongest_axis(profile) if (_AXIS if profile.has_mean else _MEAN) in told else ""


def mean_is_clear(profile: Profile) -> bool:
    """Whether its mean has a direction: level 1 is significant."""
    told = _told(profile)
    if told is None:
        return bool(profile.resultant > _STANDARD_ERRORS * profile.ess**-0.5)
    return _MEAN in told


def _told(profile: Profile) -> tuple[int, ...] | None:
    """Significant levels; None where nothing is tested."""
    try:
        return profile.tests_within(SOON).told
    except SteradianError:
        return None


def without_mean(c: Comparison) -> list[str]:
    """Groups, of few, whose own mean is not significant: they have no direction."""
    if len(c.names) > _MOST_ASKED:
        return []
    profiles = {name: c.groups[name] for name in c.names}
    return [name for name, p in profiles.items() if p.has_mean and not mean_is_clear(p)]
