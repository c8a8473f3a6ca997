"""One self-contained HTML file for a result: pages of text, tables and figures, and their HTML.

Nothing here computes: `steradian.report.profile_page` puts a page together.
"""

from steradian.report.page import (
    Block,
    Figure,
    Page,
    Paragraph,
    Prose,
    Scene,
    Section,
    Table,
    Verbatim,
)
from steradian.report.render import file_for, html_of, write_page

__all__ = [
    "Block",
    "Figure",
    "Page",
    "Paragraph",
    "Prose",
    "Scene",
    "Section",
    "Table",
    "Verbatim",
    "file_for",
    "html_of",
    "write_page",
]
