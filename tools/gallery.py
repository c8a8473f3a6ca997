"""Make the images of the gallery and the tutorials from their code: ``python tools/gallery.py``.

Every such image of a page shows the ``ax`` that the code before it leaves behind. Names of images
may follow, to make these alone; the code before them is run too, since later code builds on it. The
galaxies need the extra ``docs``, the protein ``realdata``.
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs"
RESOLUTION = 150  # dots per inch
COLOURS = 256  # of an image that would be too large with all of its own
LARGEST = 100_000  # bytes of an image
IMAGE = re.compile(r"!\[[^\]]*\]\((images/(?:gallery|tutorial)_(?:\w+)\.png)\)")


def run(text: str, names: dict[str, Any]) -> None:
    """Run the examples of a piece of the page."""
    for example in doctest.DocTestParser().get_examples(text):
        exec(compile(example.source, "docs", "single"), names)


def save(figure: Any, path: Path) -> int:
    """Save a figure, with as many colours as its room allows; its size in bytes."""
    figure.savefig(path, dpi=RESOLUTION, pil_kwargs={"optimize": True})
    if path.stat().st_size > LARGEST:
        with Image.open(path) as drawn:
            fewer = drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        fewer.save(path, optimize=True)
    return path.stat().st_size


def images_of(page: str, wanted: list[str]) -> int:
    """Make the images of one page; how many are too large."""
    from matplotlib import pyplot as plt

    names: dict[str, Any] = {}
    end, too_large = 0, 0
    for image in IMAGE.finditer(page):
        run(page[end : image.start()], names)
        end = image.end()
        path = DOCS / image[1]
        if not wanted or path.stem in wanted:
            size = save(names["ax"].figure, path)
            too_large += size > LARGEST
            print(f"{image[1]}: {size / 1000:.0f} kB")
        plt.close("all")
    return too_large


def main(wanted: list[str]) -> int:
    mpl.use("Agg")
    too_large = 0
    for path in sorted(DOCS.glob("*.md")):
        page = path.read_text("utf-8")
        stems = {Path(image).stem for image in IMAGE.findall(page)}
        if stems and (not wanted or stems & set(wanted)):
            too_large += images_of(page, wanted)
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
