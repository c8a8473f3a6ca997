"""When two answers to one question agree, by what their numbers are.

Deficits and gaps within the sum of both stated errors, exact p-values within 1e-10 and a millionth,
drawn ones equal on the kernel that recorded them and within two draws on another. What follows from
the fits (ends of intervals, statistics, log-densities) is off to first order where a deficit is off
to second: by √(2 ε) for an error of ε nats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = dict[str, Any]

_ROUNDING = 4e-15  # of a deficit, over one and its size: thirty roundings
_UNSTATED = 1e-11  # nats where no error is stated: the aim of two rules that are compared
_GROWN, _FLOOR = 5.0, 2e-12  # a stated error that is so many times another, above rounding
_PLAIN, _SHARE = 1e-9, 1e-6  # of what follows from the fits: plus this share of its size
_SECOND_ORDER = 10.0  # times √(2 ε): features and log-densities have some units of spread
_EXACT_PLAIN, _EXACT_SHARE = 1e-10, 1e-6  # of exact p-values
_FELT = 1e-5  # √(2 ε) from which the stated error of a fit is felt in p-values too: ε = 5e-11 nats
_TWO_DRAWS = 2.0
_TWO_OF_FEW = 0.7  # standard errors of a mean of twenty replicates, two of which are others
_DEVIATIONS = 4.0  # of two drawn numbers from different streams
_HALVES = 1.0  # standard errors by which random halves, which show a bias, may move an interval
_MARGIN = 1e-8  # of a margin of a moment body: what the programme that finds it is held to


@dataclass(frozen=True)
class Terms:
    """What is known of both sides before any number is compared.

    Attributes
    ----------
    kernel : bool
        Whether both were computed with the same kernel of linear algebra, and so from equal draws.
    streams : bool
        Whether random numbers come from other streams than before, on purpose.
    slack : float
        √(2 ε), with ε the largest error, in nats, that either profile states.
    """

    kernel: bool = True
    streams: bool = False
    slack: float = 0.0


@dataclass(frozen=True)
class Change:
    """A number, or something else, that is not what was recorded."""

    where: str
    before: Any
    now: Any
    allowed: float | None = None

    def __str__(self) -> str:
        if self.allowed is None:
            return f"{self.where}: {self.before} → {self.now}"
        by = abs(self.now - self.before)
        told = f"by {by:.2g}, allowed {self.allowed:.2g}"
        return f"{self.where}: {self.before:.12g} → {self.now:.12g} ({told})"


def changes(before: Numbers, now: Numbers, *, kernel: bool, streams: bool = False) -> list[Change]:
    """What differs between two records of one case."""
    if before.keys() != now.keys():
        return [Change("answers", sorted(before), sorted(now))]
    largest = max(_largest_error(before), _largest_error(now))
    terms = Terms(kernel, streams, float(np.sqrt(2.0 * largest)))
    return [change for ask in before for change in _of_answer(ask, before[ask], now[ask], terms)]


def _of_answer(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    if before.keys() != now.keys():
        yield Change(ask, sorted(before), sorted(now))
        return
    drawn = terms.streams and _is_drawn(before)
    for kind in before:
        if not (kind == "same" and drawn):
            yield from _KINDS[kind](ask, before, now, terms)


def _is_drawn(answer: Numbers) -> bool:
    of_draws = [draws for found in answer.get("p", {}).values() for _, draws in found]
    return "replicates" in answer or any(of_draws)


def _same(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    for name in sorted({*before["same"], *now["same"]}):
        one, other = before["same"].get(name), now["same"].get(name)
        if one != other:
            yield Change(f"{ask}: {name}", one, other)


def _nats(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    stated = _stated(before) + _stated(now)
    for name, one, other in _fields("nats", before, now):
        size = np.maximum(np.abs(one), np.abs(other))
        allowed = _ROUNDING * (1.0 + np.nan_to_num(size)) + stated
        if name == "I":  # a difference of two deficits, each with roundings of its own
            allowed = allowed + _shifted(np.broadcast_to(stated, one.shape))
            allowed = allowed + _ROUNDING * (1.0 + np.nan_to_num(size))
        yield from _apart(f"{ask}: {name}", one, other, allowed)


def _shifted(errors: Any) -> Any:
    """The errors of the level below."""
    return np.concatenate([np.zeros_like(errors[..., :1]), errors[..., :-1]], axis=-1)


def _errors(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    """A stated error is no tolerance of itself: one that grew hides what it is to show."""
    one, other = _stated(before), _stated(now)
    low, high = np.fmin(one, other), np.fmax(one, other)
    grown = high > _GROWN * low + _FLOOR
    for index in np.argwhere(np.atleast_1d(grown)):
        shown = [f"{np.atleast_1d(each)[tuple(index)]:.2g}" for each in (one, other)]
        yield Change(f"{ask}: stated error {_place(index)}", shown[0], shown[1])


def _pvalues(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    for name in before["p"]:
        pairs = zip(before["p"][name], now["p"][name], strict=False)
        where = f"{ask}: p {name}"
        if len(before["p"][name]) != len(now["p"][name]):
            yield Change(where, len(before["p"][name]), len(now["p"][name]))
        for level, ((p, draws), (q, others)) in enumerate(pairs, start=1):
            if (p is None) != (q is None) or bool(draws) != bool(others):
                shown = (_shown_pvalue(p, draws), _shown_pvalue(q, others))
                yield Change(f"{where} {level}", *shown)
            elif p is not None and not (terms.streams and not draws and "replicates" in before):
                allowed = _allowed_pvalue(p, q, min(draws, others), terms)
                if abs(p - q) > allowed:
                    yield Change(f"{where} {level}", p, q, allowed)


def _shown_pvalue(p: float | None, draws: int) -> str:
    return "none" if p is None else f"{p:.4g} ({f'{draws} draws' if draws else 'exact'})"


def _allowed_pvalue(p: float, q: float, draws: int, terms: Terms) -> float:
    felt = terms.slack if terms.slack > _FELT else 0.0
    exact = _EXACT_PLAIN + (_EXACT_SHARE + felt) * p
    if not draws or (terms.kernel and not terms.streams):
        return exact
    if not terms.streams:
        return exact + _TWO_DRAWS / draws
    middle = 0.5 * (p + q)
    return exact + _DEVIATIONS * float(np.sqrt(2.0 * middle * (1.0 - middle) / draws)) + 1.0 / draws


def _following(kind: str) -> Callable[[str, Numbers, Numbers, Terms], Iterator[Change]]:
    def compare(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
        for name, one, other in _fields(kind, before, now):
            size = np.nan_to_num(np.maximum(np.abs(one), np.abs(other)))
            allowed = _PLAIN + _SHARE * size + _SECOND_ORDER * terms.slack * (1.0 + size)
            error = _array(before.get("values", {}).get("se", []))
            if terms.streams and error.shape == one.shape:
                allowed = allowed + _HALVES * np.nan_to_num(error)
            yield from _apart(f"{ask}: {name}", one, other, allowed)

    return compare


def _replicates(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    (_, one, other), (_, error, error_now) = _fields("replicates", before, now)
    wide = np.nanmax([error, error_now], initial=0.0)  # of orders, the best one's own is zero
    size = np.nan_to_num(np.maximum(np.abs(one), np.abs(other)))
    deviations = _DEVIATIONS * np.sqrt(2.0) if terms.streams else _TWO_OF_FEW
    free = 0.0 if terms.kernel and not terms.streams else deviations * wide
    allowed = _PLAIN + _SHARE * size + _SECOND_ORDER * terms.slack * (1.0 + size) + free
    yield from _apart(f"{ask}: mean", one, other, allowed)


def _margins(ask: str, before: Numbers, now: Numbers, terms: Terms) -> Iterator[Change]:
    (_, one, other), (_, slack, slack_now) = _fields("margins", before, now)
    allowed = _MARGIN + np.nan_to_num(slack) + np.nan_to_num(slack_now)
    yield from _apart(f"{ask}: margin", one, other, allowed)


_KINDS: dict[str, Callable[[str, Numbers, Numbers, Terms], Iterator[Change]]] = {
    "same": _same,
    "nats": _nats,
    "error": _errors,
    "p": _pvalues,
    "ends": _following("ends"),
    "values": _following("values"),
    "replicates": _replicates,
    "margins": _margins,
}


def _stated(answer: Numbers) -> Any:
    """What the answer states of its deficits, nats, by level; a bound where it states nothing."""
    if "error" not in answer:
        return np.array(_UNSTATED)
    known = {name: _array(values) for name, values in answer["error"].items()}
    decrement = known.pop("decrement", np.zeros(1))
    return np.nan_to_num(sum(known.values()) + 0.5 * decrement**2)


def _largest_error(record: Numbers) -> float:
    return max((float(np.max(_stated(one), initial=0.0)) for one in record.values()), default=0.0)


def _array(values: Any) -> Any:
    return np.asarray(values, dtype=np.float64)


def _fields(kind: str, before: Numbers, now: Numbers) -> list[tuple[str, Any, Any]]:
    """Both sides of every field of a kind."""
    names = dict.fromkeys([*before[kind], *now[kind]])
    return [
        (name, _array(before[kind].get(name, [])), _array(now[kind].get(name, [])))
        for name in names
    ]


def _apart(where: str, one: Any, other: Any, allowed: Any) -> Iterator[Change]:
    """Numbers that differ by more than is allowed, or are known on one side only."""
    if one.shape != other.shape:
        yield Change(f"{where}: shape", one.shape, other.shape)
        return
    allowed = np.broadcast_to(allowed, one.shape)
    far = ~((np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= allowed))
    for index in np.argwhere(np.atleast_1d(far)):
        pair = [float(np.atleast_1d(each)[tuple(index)]) for each in (one, other, allowed)]
        yield Change(f"{where} {_place(index)}".rstrip(), *pair)


def _place(index: Any) -> str:
    return ", ".join(str(int(k) + 1) for k in index)
