"""Follow every link of the built site, and see that it fetches nothing: ``make docs``.

MkDocs checks links that it has made from Markdown. Here are all of them, also of raw HTML, of the
API and of the theme: files and anchors must exist, and no script, style, font, picture or frame may
come from another host. The search must know every page.
"""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

RESOURCES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "use": "href"}
FETCHED = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch"}
IN_STYLES = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)")


class Links(HTMLParser):
    """What a page names: its anchors, the pages it links to, and what a browser fetches for it."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag in RESOURCES and RESOURCES[tag] in given:
            self.fetched.append(given[RESOURCES[tag]])
        elif tag == "link" and FETCHED & set(given.get("rel", "").split()):
            self.fetched.append(given.get("href", ""))
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])


def problems(site: Path) -> list[str]:
    """One sentence for each dead link, each thing fetched and each page that cannot be found."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    found = [_foreign(path, url) for path, page in pages.items() for url in page.fetched]
    for path, page in pages.items():
        if path.name != "404.html":  # its links start at the root of a server
            found += [_dead(path, url, pages) for url in page.links + page.fetched]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path}: fetches {url}" for url in IN_STYLES.findall(path.read_text("utf-8"))]
    return [sentence for sentence in found + _unknown_to_search(site, pages) if sentence]


def _read(path: Path) -> Links:
    page = Links()
    page.feed(path.read_text("utf-8"))
    return page


def _foreign(path: Path, url: str) -> str:
    return f"{path}: fetches {url}" if urlsplit(url).netloc else ""


def _dead(path: Path, url: str, pages: dict[Path, Links]) -> str:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return f"{path}: no such file as {url}"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return f"{path}: no anchor #{anchor} in {target.name}"
    return ""


def _unknown_to_search(site: Path, pages: dict[Path, Links]) -> list[str]:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    known = {entry["location"].partition("#")[0] for entry in index["docs"]}
    names = {str(path.relative_to(site)) for path in pages} - {"404.html", "index.html"}
    return [f"the search does not know {name}" for name in sorted(names - known)]


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve()
    found = problems(site)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{sum(1 for _ in site.rglob('*.html'))} pages, {len(found)} problems: {site}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
