"""The report as text: whole, alone, and hostile words are only words."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid

import steradian as sr
from steradian.inference.effort import SOON
from steradian.report import Page, html_of
from steradian.report.profile_page import level_rows, page_of
from steradian.report.scene import scene_of
from steradian.text.levels import LevelTable

pytest.importorskip("plotly")
HOSTILE = "<script>alert(1)</script>\"'&--></style><img src=x onerror=alert(2)>\u202eright-to-left"
LIMIT = 6_000_000  # bytes that a mail still takes
BUNDLE = 4_900_000  # of them plotly.js, which most tests leave out


@pytest.fixture(autouse=True)
def _without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steradian.report.render._plotly", lambda: "/* plotly.js */")


def test_the_rim_is_named_in_radians_too() -> None:
    """Once every mark was "rad"."""
    data = sr.Directions.from_angles(np.random.default_rng(1).vonmises(0.0, 2.0, 50))
    scene = scene_of(LevelTable.of(sr.profile(data, levels=1), SOON))
    assert scene is not None
    words = scene.content["ticks"]["words"]
    assert words[:3] == ["0.0000 rad", "0.7854 rad", "1.5708 rad"]


def test_every_level_has_its_row() -> None:
    """Also of more levels than a printed table has lines."""
    theta = np.random.default_rng(1).vonmises(0.0, 2.0, 400)
    p = sr.profile(sr.Directions.from_angles(theta), levels=20)
    rows = level_rows(LevelTable.of(p, SOON)).rows
    assert [row[0].split(":")[0] for row in rows] == [str(level) for level in range(1, 21)]
    assert "level 20" in html_of(page_of(p))


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of those that are shown."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in {"script", "style"}:
            self.words.append(data)


@pytest.fixture(scope="module")
def page() -> Page:
    return page_of(sr.profile(sr.examples.load("turtles")))


@pytest.fixture
def turtles(page: Page) -> str:
    return html_of(page)


def test_it_is_small_with_the_whole_of_plotly(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    text = html_of(page)
    assert BUNDLE - 400_000 < len(text.encode()) < LIMIT
    assert text.count("</script>") == 7  # three pictures, the record, plotly and ours


def test_it_asks_for_nothing(turtles: str) -> None:
    elements = Elements(turtles)
    for tag, attributes in elements.found:
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        if tag == "a":
            assert str(attributes["href"]).startswith("#")


def test_the_policy_lets_nothing_in_or_out(turtles: str) -> None:
    found = Elements(turtles).found
    policies = [a for tag, a in found if tag == "meta" and "http-equiv" in a]
    policy = str(policies[0]["content"])
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert policy.startswith("default-src 'none'; ")
    assert nonce is not None
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    scripts = [a for tag, a in found if tag == "script"]
    run = [a for a in scripts if a.get("type") != "application/json"]
    assert len(run) == 2  # plotly once, and ours
    assert all(a["nonce"] == nonce[1] for a in run)
    assert not any(name.startswith("on") for _, a in found for name in a)


def test_no_two_reports_share_a_nonce() -> None:
    empty = Page("t", (), (), (), (), ())
    nonces = {re.search(r"nonce-([\w-]+)", html_of(empty))[1] for _ in range(3)}  # type: ignore[index]
    assert len(nonces) == 3


def test_it_reads_top_down(turtles: str) -> None:
    words = " ".join(" ".join(Elements(turtles).words).split())
    order = [
        "turtles.csv", "Clear: level 1 (mean direction)", "circular standard deviation 67.7°",
        "Density of", "What each level adds, in nats", "Can it be believed?",
        "Are the numbers right?", "Are there enough data?", "Is there more structure?",
        "Tests of zero gaps", "95% intervals", "Residuals through degree 8",
        "random rotations", "How the sample came about", "were decomposed by",
        "You, K. and Cho, S.", "numpy", "rounding of moments", "inside the moment body", "Kish ESS",
    ]  # fmt: skip
    at = [words.find(each) for each in order]
    assert -1 not in at
    assert at == sorted(at)
    assert "moment body" not in words[: at[order.index("Tests of zero gaps")]]


def test_its_record_is_that_of_the_profile(turtles: str) -> None:
    text = re.search(r'id="steradian-record">(.*?)</script>', turtles)
    assert text is not None
    profile = sr.profile(sr.examples.load("turtles"))
    assert json.loads(text[1])["gaps"] == pytest.approx(profile.gaps.tolist(), abs=1e-9)


def test_hostile_words_are_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    file = tmp_path / "a'<b>&.csv"
    rows = [f"{lon},{lat}" for lon, lat in rng.uniform(-60, 60, (40, 2))]
    file.write_text('"<b>lon</b>","lat\'&"\n' + "\n".join(rows), encoding="utf-8")
    data = sr.read_directions(file, columns=["<b>lon</b>", "lat'&"], coords="lonlat")
    profile = sr.profile(data, levels=2)
    long = HOSTILE + 10_000 * "W"
    text = profile.report(tmp_path / "out.html", title=long, call=HOSTILE).read_text("utf-8")
    elements = Elements(text)
    tags = [tag for tag, _ in elements.found]
    assert "b" not in tags
    assert [a.get("id") for tag, a in elements.found if tag == "img"] == ["density-still"]
    shown = "".join(elements.words)
    assert long in shown
    assert "`<b>lon</b>`" in shown
    assert "<b>" not in text
    assert "onerror=alert(2)>" not in text.replace("&gt;", "")


def test_json_cannot_leave_its_element() -> None:
    page = Page("t", (), (), (), (), (), {"name": "</script><script>alert(1)</script>"})
    text = html_of(page)
    assert "</script><script>alert" not in text
    assert "\\u003c/script\\u003e" in text


@pytest.mark.parametrize("levels", [2])
def test_densities_that_are_drawn_integrate_to_one(levels: int) -> None:
    """Over the drawn grid: trapezia of 2 to 3 degrees, smooth laws."""
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=levels)
    scene = scene_of(LevelTable.of(profile, SOON))
    assert scene is not None
    values = np.array(scene.content["values"])
    lat = np.radians(scene.content["lat"])
    assert values.shape == (levels + 1, len(lat), len(scene.content["lon"]))
    for density in values:
        rings = 0.5 * (density[:, 1:] + density[:, :-1]).mean(axis=1)
        mass = trapezoid(rings * np.cos(lat), lat) / 2.0
        assert mass == pytest.approx(1.0, abs=5e-3)
    assert np.allclose(values[0], 1.0)


def test_a_density_narrower_than_the_grid_says_so() -> None:
    x = np.random.default_rng(0).normal([0, 0, 300.0], 1.0, (60, 3))
    scene = scene_of(LevelTable.of(sr.profile(sr.Directions(x, normalize=True), levels=1), SOON))
    assert scene is not None
    assert "is narrower in places than the grid that is drawn" in scene.caption


def test_the_slider_begins_at_what_was_found() -> None:
    """Not at the highest level, whose ripples may be those of noise."""
    theta = np.random.default_rng(1).vonmises(0.0, 1.5, 200)
    table = LevelTable.of(sr.profile(sr.Directions.from_angles(theta), levels=3), SOON)
    assert [str(v) for v in table.verdicts] == ["clear", *2 * ["not_significant"]]
    scene = scene_of(table)
    assert scene is not None
    assert scene.first == 1
    even = np.linspace(0.0, 2.0 * np.pi, 50)
    flat = scene_of(LevelTable.of(sr.profile(sr.Directions.from_angles(even), levels=2), SOON))
    assert flat is not None
    assert flat.first == 2  # nothing was found: all of it is shown


@pytest.mark.parametrize(
    ("rows", "names", "marks"),
    [
        (
            sr.Directions.from_radec([1.0, 5.0, 9.0, 2.0], [10, 50, -20, 60], hours=True),
            ["right ascension, hours", "declination, degrees"],
            ("4 h", "−60°"),
        ),
        (
            sr.Directions.from_lonlat([1.0, 5.0, 9.0, 2.0], [10, 50, -20, 60]),
            ["longitude, degrees", "latitude, degrees"],
            ("60°", "−60°"),
        ),
        (sr.examples.load("mcmurdo"), ["declination, degrees", "inclination, degrees"],
         ("60°", "−60°")),
    ],
)  # fmt: skip
def test_the_flat_map_is_written_as_the_data_are(
    rows: sr.Directions, names: list[str], marks: tuple[str, str]
) -> None:
    scene = scene_of(LevelTable.of(sr.profile(rows, levels=1), SOON))
    assert scene is not None
    across, up = scene.content["ticks"]
    assert scene.content["names"] == names
    assert (across["words"][across["at"].index(60.0)], up["words"][up["at"].index(-60.0)]) == marks
    words = scene.content["words"]
    assert [len(part) for part in words] == [len(scene.content[k]) for k in ("lon", "lat")]
    assert words[0][0].endswith("h" if "hours" in names[0] else "°")


def test_hours_of_a_clock_are_told_as_such() -> None:
    times = sr.Directions.from_times(np.array([20.0, 21.0, 22.5, 3.0]))
    scene = scene_of(LevelTable.of(sr.profile(times, levels=1), SOON))
    assert scene is not None
    assert scene.content["words"][90] == "06:00"


def test_many_rows_are_drawn_in_part_and_it_says_so() -> None:
    x = sr.Sphere().uniform(5000, np.random.default_rng(0))
    scene = scene_of(LevelTable.of(sr.profile(x, levels=1), SOON))
    assert scene is not None
    assert "3,000 of 5,000 rows are drawn, taken at random." in scene.caption
    assert len(scene.content["data"]["x"]) == 3000


def _torus() -> sr.results.Profile:
    return sr.profile(
        sr.Directions.from_dihedrals(*np.random.default_rng(0).vonmises(0.5, 1.0, (2, 60)))
    )


def test_the_slider_of_a_torus_begins_at_a_level() -> None:
    scene = scene_of(LevelTable.of(_torus(), SOON))
    assert scene is not None
    assert scene.first in range(len(scene.levels))


def _sums() -> sr.results.Profile:
    data = sr.examples.load("mcmurdo")
    return sr.profile(sr.Moments.from_directions(data, sr.Harmonics(3, 2)))


def _weighted() -> sr.results.Profile:
    return sr.profile(sr.examples.load("mcmurdo").x, weights=np.arange(1.0, 134.0), levels=2)


@pytest.mark.parametrize(
    ("make", "chart"),
    [
        (lambda: sr.profile(sr.examples.load("laths")), "circle"),
        (lambda: sr.profile(np.vstack([np.eye(5), -np.eye(5)[:2]]), levels=1), None),
        (lambda: sr.profile(np.eye(3), levels=2, shrinkage=0.1), "sphere"),
        pytest.param(_sums, "sphere", marks=pytest.mark.slow),
        pytest.param(_weighted, "sphere", marks=pytest.mark.slow),
        pytest.param(_torus, "torus", marks=pytest.mark.slow),
    ],
)
def test_every_space_and_design_has_a_report(make, chart: str | None, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    profile = make()
    scene = scene_of(LevelTable.of(profile, SOON))
    assert (None if scene is None else scene.chart) == chart
    path = profile.report(tmp_path / "out.html")
    assert path.stat().st_size < LIMIT - BUNDLE
    assert "Are there enough data?" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "words"),
    [("x.pdf", "give the name of a file like out.html"), ("none/x.html", "no folder")],
)
def test_wrong_paths_are_refused_before_the_work(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(sr.InvalidArgument, match=words):
        sr.profile(sr.examples.load("turtles"), levels=1).report(tmp_path / name)
    (tmp_path / "dir.html").mkdir()
    with pytest.raises(sr.InvalidArgument, match="a folder"):
        sr.profile(sr.examples.load("turtles"), levels=1).report(tmp_path / "dir.html")


def test_missing_libraries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steradian.report.render.find_spec", lambda _: None)
    with pytest.raises(sr.MissingExtra, match=r"pip install 'steradian\[report\]'"):
        sr.profile(sr.examples.load("turtles"), levels=1).report(tmp_path / "x.html")
