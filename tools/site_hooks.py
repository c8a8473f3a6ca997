"""What MkDocs does besides building pages: see ``hooks`` in ``mkdocs.yml``.

Pages are written to be read as plain Markdown and run as doctests. Here they become pages of the
site: examples lose what only doctest needs, links to files outside ``docs/`` find them, and what
can be made from the library itself (the landing picture, the help of every command) is.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from site_landing import picture  # beside this file, where MkDocs looks while it loads hooks
from site_text import readable

ROOT = Path(__file__).parent.parent
LANDING = "<!-- landing picture -->"
SEARCH = 'data-md-component="search" role="dialog" aria-label="Search"'
COMMANDS = "<!-- help of every command -->"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changelog, the guide for contributors and the sources of the examples."""
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text("utf-8")
        files.append(File.generated(config, f"examples/{path.name}.txt", content=text))
    for name in ("CHANGELOG", "CONTRIBUTING"):
        text = (ROOT / f"{name}.md").read_text("utf-8").replace("](docs/", "](")
        files.append(File.generated(config, f"{name.lower()}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn a page that runs as a doctest into one to be read."""
    markdown = re.sub(r"\]\(\.\./(examples/\w+\.py)\)", r"](\1.txt)", markdown)
    if LANDING in markdown:
        markdown = markdown.replace(LANDING, picture())
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, _help_of_commands())
    return readable(markdown)


def on_post_page(output: str, **_: object) -> str:
    """Name the dialogue of the search for those who do not see it, which the theme does not."""
    return output.replace('data-md-component="search" role="dialog"', SEARCH)


def _help_of_commands() -> str:
    """``--help`` of every command, as it prints."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from steradian.cli.app import app

    runner = CliRunner()
    parts = []
    for name in getattr(get_command(app), "commands", {}):
        text = runner.invoke(app, [name, "--help"], prog_name="steradian", terminal_width=80).output
        parts.append(f"## steradian {name}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(parts)
