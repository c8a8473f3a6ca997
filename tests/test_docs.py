"""The documentation beyond its doctests: command lines, names of the API, the check of the site."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import io
import json
import re
import shlex
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from steradian.cli.app import run

pytestmark = pytest.mark.slow  # a part of `make docs`, which asks for all of them
ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
# Half a minute, a scheduler on another machine, processes of a cluster, a report of the demo: each
# has tests of its own.
ELSEWHERE = ("reproduce all", "tcp://", "--cluster local", "demo")


def command_lines() -> list[str]:
    """Every command line of the pages that is ours, once, in the order of the pages."""
    found: dict[str, None] = {}
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for line in block.splitlines():
                command = re.split(r"\s+#", line.strip().removeprefix("$ "))[0].rstrip()
                if "steradian " in command and not any(part in command for part in ELSEWHERE):
                    found[command] = None
    return list(found)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every file that the pages name, each of its kind."""
    rng = np.random.default_rng(0)
    n = 60
    bearing, dip = rng.uniform(0, 360, n), rng.uniform(5, 85, n)
    dec, inc, x = rng.uniform(0, 360, n), rng.uniform(-80, 80, n), rng.normal(size=(n, 3))
    unit = pd.DataFrame(x / np.linalg.norm(x, axis=1)[:, None], columns=["x", "y", "z"])
    region = np.repeat([f"r{k}" for k in range(30)], 2)
    frames = {
        "sites.csv": {"site": np.arange(n), "dec": dec, "inc": inc, "region": region},
        "stars.csv": {"ra": rng.uniform(0, 24, n), "dec": inc, "w": rng.uniform(1, 2, n)},
        "planes.csv": {"strike": bearing, "dip": dip, "formation": np.repeat(["a", "b"], 30)},
        "faults.csv": {"dip_direction": bearing, "dip": dip},
        "lineations.csv": {"trend": bearing, "plunge": dip},
        "galaxies.csv": {"ra": bearing, "dec": inc, "type": np.repeat(["E", "S"], 30)},
        "winds.csv": {"azimuth": bearing, "hour": np.arange(n) % 24},
        "births.csv": {"hour": np.arange(24), "n": rng.poisson(9, 24)},
        "rose.csv": {"from": np.arange(0, 360, 30), "to": np.arange(30, 361, 30), "n": 12 * [9]},
    }
    for name, columns in frames.items():
        pd.DataFrame(columns).to_csv(tmp_path / name, index=False)
    magic = pd.DataFrame({"dir_dec": dec, "dir_inc": inc, "lat": dip, "lon": bearing})
    (tmp_path / "sites.txt").write_text("tab \tsites\n" + magic.to_csv(sep="\t", index=False))
    np.savetxt(tmp_path / "winds.dat", np.column_stack([bearing, rng.uniform(1, 9, n)]))
    np.save(tmp_path / "vectors.npy", rng.normal(size=(n, 5)))
    unit.to_csv(tmp_path / "a.csv", index=False)
    unit.to_parquet(tmp_path / "big.parquet")
    unit.assign(site=region).to_parquet(tmp_path / "all.parquet")
    (tmp_path / "north").mkdir()
    unit.to_parquet(tmp_path / "north" / "1.parquet")
    _coverage(tmp_path / "coverage.fits")
    for name in ("north", "south", "pooled"):
        sr.moments(unit, sr.Harmonics(3, 4)).save(tmp_path / f"{name}.moments")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _coverage(path: Path) -> None:
    """A HEALPix map of equal exposure."""
    fits = pytest.importorskip("astropy.io.fits")
    column = fits.Column(name="EXPOSURE", format="E", array=np.ones(12 * 8**2))
    table = fits.BinTableHDU.from_columns([column])
    table.header.update({"ORDERING": "RING", "NSIDE": 8, "PIXTYPE": "HEALPIX"})
    table.writeto(path)


def test_there_are_command_lines() -> None:
    assert len(command_lines()) > 25


@pytest.mark.parametrize("command", command_lines())
def test_command_lines_of_the_pages_run(
    command: str, tables: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before, _, ours = command.rpartition("steradian ")
    if before:  # cat FILE |
        text = (tables / before.split()[1]).read_bytes()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    code = run(shlex.split(ours))
    said = capfd.readouterr().err
    assert code == 0, f"{said.strip()} (the files that pages name are made by the fixture `tables`)"


def test_the_profile_that_is_read_line_by_line_is_what_is_printed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """docs/reading.md, where … stands for digits of rounding; p-values may be those of draws."""
    page = (ROOT / "docs" / "reading.md").read_text("utf-8")
    shown = re.findall(r"```text\n(read 133.*?)\n```", page, re.DOTALL)[0]
    assert run(["profile", "mcmurdo"]) == 0
    pvalue = re.compile(r"\S+ (?=\d+\.\d%)")
    said, quoted = (
        pvalue.sub("p ", " ".join(text.split())) for text in (capfd.readouterr().out, shown)
    )
    assert re.fullmatch(re.escape(quoted).replace("…", r"\S+"), said)


def test_calls_by_field_run() -> None:
    """The tabs of docs/by_field.md, with data of their kind."""
    rng = np.random.default_rng(0)
    angle, up, x = rng.uniform(0, 360, 80), rng.uniform(-80, 80, 80), rng.normal(size=(80, 4))
    given = {
        "bearings": angle, "dec": angle, "inc": up, "strike": angle, "dip": abs(up),
        "trend": angle, "plunge": abs(up), "ra": angle / 15, "lon": angle, "lat": up,
        "times": ["14:35", "02:10", "23:59", "09:30", "17:45", "12:00"],
        "months": np.arange(1, 13), "births": rng.poisson(50, 12),
        "phi": np.radians(angle), "psi": np.radians(up), "q": sr.Directions(x, normalize=True).x,
        "vectors": x, "keys": sr.Directions(x, normalize=True).x, "attention": rng.random((3, 80)),
    }  # fmt: skip
    given |= {"sr": sr}
    page = (ROOT / "docs" / "by_field.md").read_text("utf-8")
    blocks = re.findall(r"    ```python\n(.*?)    ```", page, re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        sky = {"dec": up} if "from_radec" in block else {}
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        exec("\n".join(lines), given | sky)


def entries() -> set[str]:
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    return {name for page in pages for name in ENTRY.findall(page.read_text("utf-8"))}


def resolved(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return inspect.unwrap(getattr(importlib.import_module(module), attribute))


def undocumented(module: ModuleType) -> list[str]:
    """Names of a module that no page of docs/api has a line '::: module.name' of."""
    documented = [resolved(name) for name in entries()]
    public = {name: inspect.unwrap(getattr(module, name)) for name in module.__all__}
    return [
        name
        for name, value in public.items()
        if not isinstance(value, ModuleType) and not any(value is each for each in documented)
    ]


@pytest.mark.parametrize(
    "name", ["steradian", "steradian.designs", "steradian.conformance", "steradian.plots"]
)
def test_every_public_name_has_an_entry_in_the_api(name: str) -> None:
    missing = undocumented(importlib.import_module(name))
    assert not missing, f"add lines '::: module.name' of {missing} to a page of docs/api"


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {sr.__version__}\n" in citation


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two pages with nothing wrong."""
    (tmp_path / "search").mkdir()
    known = [{"location": ""}, {"location": "b.html#top"}]
    (tmp_path / "search" / "search_index.json").write_text(json.dumps({"docs": known}))
    (tmp_path / "index.html").write_text('<a href="b.html#top">b</a> <a href="https://x.org">x</a>')
    (tmp_path / "b.html").write_text('<h1 id="top">b</h1> <link rel="stylesheet" href="s.css">')
    (tmp_path / "s.css").write_text("p { background: url(data:image/png;base64,) }")
    return tmp_path.resolve()


def test_a_sound_site_passes(site: Path) -> None:
    assert tool("site_check").problems(site) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("index.html", '<a href="c.html">c</a>', "no such file as c.html"),
        ("index.html", '<a href="b.html#end">b</a>', "no anchor #end in b.html"),
        ("index.html", '<img src="https://x.org/a.png">', "fetches https://x.org/a.png"),
        ("index.html", '<script src="//x.org/a.js"></script>', "fetches //x.org/a.js"),
        ("index.html", '<link rel="preconnect" href="https://x.org">', "fetches https://x.org"),
        ("s.css", "@import 'https://x.org/f.css';", "fetches https://x.org/f.css"),
        ("s.css", "src: url(//x.org/f.woff2)", "fetches //x.org/f.woff2"),
        ("c.html", "<p>c</p>", "the search does not know c.html"),
    ],
)
def test_what_is_wrong_with_a_site_is_said(site: Path, name: str, content: str, words: str) -> None:
    (site / name).write_text(content)
    assert [sentence.endswith(words) for sentence in tool("site_check").problems(site)] == [True]


def test_comments_of_long_lines_come_near() -> None:
    short, long = "a      # b", f">>> a{60 * ' '}# {30 * 'b'}"
    assert tool("site_text").readable(f"{short}\n{long}\n") == f"{short}\n>>> a  # {30 * 'b'}\n"


def test_pages_lose_what_only_doctest_needs() -> None:
    page = (
        "```python\n>>> f()  # doctest: +ELLIPSIS\nb\n<BLANKLINE>\nc\n\n```\n\n```text\nd\n\n```\n"
    )
    assert tool("site_text").readable(page) == (
        "```pycon\n>>> f()\nb\n\nc\n```\n\n```text\nd\n\n```\n"
    )


# --- a notebook -----------------------------------------------------------------------------

_CELLS = (
    "import steradian as sr\np = sr.profile(sr.examples.load('turtles'), levels=2)\np",
    "p.tests()",
    "p.to_frame()",
    "%matplotlib inline\nax = p.plot()",
    "path = p.report('turtles.html')\npath.stat().st_size < 6_000_000",
)


@pytest.mark.filterwarnings("ignore")  # of what runs kernels; those of the cells fail them
def test_a_notebook_runs_and_shows_its_results(tmp_path: Path) -> None:
    """As people do it: a kernel of its own, results as HTML, pictures as PNG, a report."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["import warnings; warnings.simplefilter('error', UserWarning)", *_CELLS]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    nbformat.validate(book)
    client.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [
        {kind for out in cell.outputs for kind in out.get("data", {})} for cell in book.cells[1:]
    ]
    assert all("text/html" in kinds for kinds in shown[:3])
    profile = book.cells[1].outputs[0].data["text/html"]
    assert "mean direction" in profile
    assert "<script" not in profile
    assert "image/png" in shown[3]
    assert book.cells[5].outputs[0].data["text/plain"] == "True"
    assert (tmp_path / "turtles.html").is_file()
