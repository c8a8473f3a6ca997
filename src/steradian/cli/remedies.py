"""Remedies of the library as options of the command line."""

from __future__ import annotations

import functools
import re

_CALLS = (
    (
        r"(?P<word>\w+)='[^']*'\s+or\s+--(?P=word)\b",
        r"--\g<word>",
    ),  # both ways to say it: one is enough here
    (r"axial=True\s+or\s+--axial", "--axial"),
    (r"reference=\s+\(--reference\)", "--reference"),
    (r"\btests\(\)(?=\s+[\d–])", "  later"),  # in a table, whose columns stay as they are
    (r"tests\(\) in Python finds it", "--design finds it"),
    (r"intervals\(\) in Python finds them", "--design finds them"),
    (r"tests\(\) finds it", "--design finds it"),
    (r"see\s+tests\(\)", "see --design"),
    (r"see\s+boundary\(\)", "see steradian boundary"),
    (
        r"'fixed', 'importance', Clusters, Chain, Survey or Known",
        "--design fixed, importance, clusters:COLUMN, chain or survey:psu=COLUMN",
    ),
    (
        r"sr\.designs\.Clusters\(ids\), Survey\(\.\.\.\)\s+or\s+Known\(covariance, rate\)",
        "clusters:COLUMN or survey:psu=COLUMN",
    ),
    (r"design=\s+or\s+--design", "--design"),
    (
        r"pass sr\.designs\.Known\(covariance, rate\)",
        "a covariance is given in Python only; choose iid, fixed, importance, chain, "
        "clusters:COLUMN or survey:psu=COLUMN",
    ),
    (r"\b(?P<word>shrinkage|levels)=(?P<size>[\d.]*\d)", r"--\g<word> \g<size>"),
)


def without_python(text: str) -> str:
    """A result or an error with options in place of what one would call in Python."""
    for pattern, flag in _CALLS:
        whole = rf"(?P<space> ?)(?P<bracket>\(?)(?P<words>{pattern})"
        text = re.sub(whole, functools.partial(_option, flag=flag), text)
    return text


def _option(found: re.Match[str], flag: str) -> str:
    """The option; a line that ended within the words ends before it."""
    begins = "\n" if "\n" in found["words"] else found["space"]
    return begins + found["bracket"] + found.expand(flag)


_FLAGS = (
    (r"with Directions\.from_lonlat or its like", "with --coords lonlat or its like"),
    (r"or pass normalize=True if they are x", "or give --coords xyz --normalize if they are x"),
    (r"normalize=True", "--normalize"),
    (r"degrees=True or False", "--degrees or --radians"),
    (r"degrees=False", "--radians"),
    (r"degrees=True", "--degrees"),
    (r"hours=True", "--hours"),
    (r"axial=True", "--axial"),
    (r"on_bad='(\w+)'", r"--on-bad \1"),
    (r"^on_bad is", "--on-bad is"),
    (r"^period is", "--period is"),
    (r"period='(\w+)'", r"--period \1"),
    (r"period=([\d.]*\d)", r"--period \1"),
    (r"\bshrinkage=(?=\W|$)", "--shrinkage"),
    (r"\blevels=(?=\W|$)", "--levels"),
    (r"^epsilon is", "--shrinkage is"),
    (r"^(levels|columns) is", r"--\1 is"),
    (r"columns=…, --columns", "--columns"),
    (r"coords=…, --coords", "--coords"),
    (r"\(coords='(\w+)'", r"(--coords \1"),
    (r",? ?coords='(\w+)'", r" --coords \1"),
    (r"columns=(\d+(?:,\d+)*)", r"--columns \1"),
    (r",? ?\b(counts|weights|table)='([^']*)'", r" --\1 \2"),
    (r"\b(counts|weights|table)=(?=\W|$)", r"--\1"),
    (r"\bdesign=(?=')", "--design "),
    (r"\(columns=\)", "(--columns)"),
    (r"\(coords=\)", "(--coords)"),
)
_LISTED = re.compile(r"\b(columns|bins)=\[([^\]]*)\]")


def in_options(message: str) -> str:
    """An error of the library with its remedies as options of the command line."""
    words = without_python(_LISTED.sub(_columns_option, message))
    for pattern, flag in _FLAGS:
        words = re.sub(pattern, flag, words)
    return re.sub(r"^coords (is|')", r"--coords \1", words).replace("  ", " ")


def _columns_option(found: re.Match[str]) -> str:
    names = ",".join(re.findall(r"['\"](.*?)['\"](?:, |$)", found[2]))
    return f"--{found[1]} " + (f'"{names}"' if re.search(r"[^\w,.\-]", names) else names)
