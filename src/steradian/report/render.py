"""A page as one HTML file: nothing is fetched, nothing is sent, and text is only ever text."""

from __future__ import annotations

import json
import secrets
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from steradian.arguments import wrong_value
from steradian.errors import InvalidArgument, MissingExtra
from steradian.io.records import without_nan, write_whole
from steradian.report.page import Block, Figure, Page, Scene
from steradian.text.messages import Name

_INSTALL = "a report needs jinja2 and plotly; install them with: pip install 'steradian[report]'"
_NAME_IT = "give the name of a file like out.html"
_MOST_RECORD = 300_000  # characters of numbers for machines; longer records are left out
_SUFFIXES = {".html", ".htm"}


def write_page(page: Page, path: str | Path) -> Path:
    """Write a page to a file that appears whole or not at all, and return its path."""
    target = file_for(path)
    write_whole(target, html_of(page).encode())
    return target


def file_for(path: str | Path) -> Path:
    """The file that a report may be written to; refused before anybody waits for it."""
    try:
        target = Path(path)
    except TypeError as error:
        raise wrong_value("report", path, _NAME_IT) from error
    if target.suffix.lower() not in _SUFFIXES:
        raise wrong_value("report", str(path), _NAME_IT)
    if target.is_dir():
        raise InvalidArgument(
            "{name} is {path!r}, a folder; give the name of a file in it",
            name=Name("report"), path=str(path),
        )  # fmt: skip
    if not target.parent.is_dir():
        raise InvalidArgument(f"no folder {str(target.parent)!r}; make it first")
    for name in ("jinja2", "plotly"):
        if find_spec(name) is None:
            raise MissingExtra(_INSTALL)
    return target


def html_of(page: Page) -> str:
    """The page as one self-contained HTML text.

    The content-security policy allows the scripts and the style of the file itself, by a nonce,
    and pictures that they make; plotly.js sets styles of its elements, so styles are not bound to
    the nonce. Nothing else may be loaded or sent, whatever the data say.
    """
    environment = _environment()
    nonce = secrets.token_urlsafe(18)
    figures = {one.key: _content(one) for one in _pictures(page)}
    return str(
        environment.get_template("report.html.j2").render(
            page=page,
            nonce=nonce,
            policy=_policy(nonce),
            style=_own("report.css"),
            script=_own("report.js"),
            plotly=_plotly() if figures else "",
            figures={key: _as_json(content) for key, content in figures.items()},
            record=_record(page),
        )
    )


def _policy(nonce: str) -> str:
    rules = {
        "default-src": "'none'",
        "script-src": f"'nonce-{nonce}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra(_INSTALL) from error

    return Environment(
        loader=PackageLoader("steradian.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtra(_INSTALL) from error
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _own(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _pictures(page: Page) -> list[Figure | Scene]:
    blocks: list[Block] = [*page.blocks, *(b for s in page.sections for b in s.blocks)]
    return [block for block in blocks if isinstance(block, Figure | Scene)]


def _content(picture: Figure | Scene) -> dict[str, Any]:
    if isinstance(picture, Figure):
        return {"kind": "figure", **picture.plot}
    return {
        "kind": "scene",
        "chart": picture.chart,
        "levels": list(picture.levels),
        "first": picture.first,
        **picture.content,
    }


def _as_json(content: Any) -> str:
    """JSON that stays within its element: no character of it ends or opens one."""
    text = json.dumps(without_nan(content), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _record(page: Page) -> str:
    text = _as_json(page.record)
    return text if len(text) <= _MOST_RECORD else ""
