"""The paper's tables and figures: the numbers, the verdicts, and the command that makes them."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.stats import kstest, vonmises

import steradian as sr
from steradian import paper
from steradian.cli.app import run
from steradian.numerics.arrays import Array
from steradian.paper import (
    auditing,
    calibration,
    catalogue,
    circle,
    digits,
    laws,
    local_forms,
    output,
    sphere,
)
from steradian.paper.entries import Bound, Entry, Printed

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper.md"


# --- verdicts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "unit", "se"),
    [
        ("1.035 (0.004)", 1.035, 0.001, 0.004),
        ("0.002 (0.000)", 0.002, 0.001, 0.0),
        ("8.07", 8.07, 0.01, 0.0),
        ("400", 400.0, 1.0, 0.0),
    ],
)
def test_printed_numbers_are_read(text: str, value: float, unit: float, se: float) -> None:
    found = Printed.of(text)
    assert (found.text, found.value, found.se) == (text, value, se)
    assert found.unit == pytest.approx(unit, rel=1e-15)


def test_what_is_no_printed_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^'1,035' is no printed number; write it like '1\.035 "):
        Printed.of("1,035")


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [(0.5205, True), (0.5195, True), (0.52051, False), (0.5189, False), (np.nan, False)],
)
def test_a_deterministic_number_must_have_the_printed_digits(ours: float, agrees: bool) -> None:
    entry = Entry.exact("row", "column", ours, "0.520")
    assert entry.agrees is agrees
    assert (entry.cells[2] == "same") is agrees
    assert entry.cells[2].endswith("DIFFERS") is not agrees


@pytest.mark.parametrize(("sigmas", "agrees"), [(0.0, True), (3.99, True), (-4.01, False)])
def test_a_monte_carlo_number_may_stray_four_standard_errors(sigmas: float, agrees: bool) -> None:
    error = np.hypot(0.03, 0.04)
    beyond = np.sign(sigmas) * 0.0005
    entry = Entry("row", "column", 1.0 + sigmas * error + beyond, 0.03, Printed.of("1.000 (0.040)"))
    assert entry.error == pytest.approx(0.05)
    assert entry.agrees is agrees
    assert entry.off == pytest.approx(sigmas + beyond / error)


@pytest.mark.parametrize("text", ["1.000", "1.000 (0.000)"])
def test_where_no_standard_error_is_printed_ours_stands_for_it(text: str) -> None:
    entry = Entry("row", "column", 1.1, 0.03, Printed.of(text))
    assert entry.paper_se == 0.03
    assert entry.off == pytest.approx(0.1 / (0.03 * np.sqrt(2.0)))


def test_averages_carry_their_standard_error() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    entry = Entry.average("row", "column", values, "2.5")
    assert entry.ours == 2.5
    assert entry.se == pytest.approx(np.sqrt(5.0 / 3.0) / 2.0)
    alike = Entry.average("row", "column", np.full(30, 0.1 + 0.2), "0.3")
    assert alike.se == 0.0
    alone = Entry.once("row", "column", values, "1.0")
    assert alone.ours == 1.0
    assert alone.se == pytest.approx(np.sqrt(5.0 / 3.0))


def test_a_number_that_is_not_printed_is_not_judged() -> None:
    entry = Entry.exact("row", "column", 3.0, "")
    assert entry.agrees
    assert entry.cells == ("3.000", "–", "–")


@pytest.mark.parametrize(("ours", "keeps"), [(1e-10, True), (2e-10, False), (np.nan, False)])
def test_limits_are_kept_or_not(ours: float, keeps: bool) -> None:
    bound = Bound("row", "column", ours, 1.8e-7, 1e-10)
    assert bound.agrees is keeps
    assert bound.cells[1:] == ("1.8e-07", "limit 1e-10" + ("" if keeps else " DIFFERS"))


def test_a_piece_names_what_differs() -> None:
    good, bad = (Entry.exact("row", name, 1.0, text) for name, text in (("a", "1.0"), ("b", "2.0")))
    piece = paper.Piece("table9", "A table", "Its story.", (good, bad))
    assert not piece.agrees
    assert piece.differing == (bad,)
    assert str(piece).endswith("1 of 2 numbers differ from the paper: row, b.")
    assert "-10.0 units DIFFERS" in str(piece)
    fair = Entry("row", "b", 1.2, 0.1, Printed.of("1.0"))
    said = str(replace(piece, entries=(good, fair)))
    assert max(map(len, said.splitlines())) <= 80
    assert " ".join(said.split()).endswith(
        "All 2 numbers agree with the paper, 1 of them in every printed digit; "
        "the farthest are 1.4 standard errors apart."
    )


# --- the laws -----------------------------------------------------------------------------

RNG_ROWS = 200_000


@pytest.mark.parametrize("name", sphere.CLOUDS)
def test_draws_on_the_sphere_are_unit_vectors(name: str) -> None:
    x = sphere.CLOUDS[name](1000, np.random.default_rng(1))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)


def test_vmf_draws_have_its_resultant_and_mixtures_its_centres() -> None:
    expected = 1.0 / np.tanh(8.0) - 1.0 / 8.0
    x = laws.vmf(8.0)(RNG_ROWS, np.random.default_rng(2))
    np.testing.assert_allclose(x.mean(axis=0), [0.0, 0.0, expected], atol=5e-3)
    mixed = laws.vmf_mixture(laws.TETRAHEDRON, 8.0)(RNG_ROWS, np.random.default_rng(3))
    nearest = np.argmax(mixed @ laws.TETRAHEDRON.T, axis=1)
    np.testing.assert_allclose(np.bincount(nearest) / RNG_ROWS, 0.25, atol=5e-3)
    np.testing.assert_allclose(mixed.mean(axis=0), 0.0, atol=5e-3)
    np.testing.assert_allclose(mixed.T @ mixed / RNG_ROWS, np.eye(3) / 3.0, atol=5e-3)


def test_girdle_weights_and_angles_follow_their_laws() -> None:
    z = laws.girdle(RNG_ROWS, np.random.default_rng(4))[:, 2]
    assert z.std() == pytest.approx(0.195, abs=2e-3)
    w = laws.pareto(RNG_ROWS, np.random.default_rng(5))
    assert [np.mean(w > t) for t in (1.0, 4.0, 9.0)] == pytest.approx([1, 1 / 8, 1 / 27], abs=5e-3)
    theta = laws.von_mises(3, 12.0)(RNG_ROWS, np.random.default_rng(6))
    found = [np.mean(np.exp(1j * k * theta)) for k in (1, 2, 3)]
    third = vonmises(12.0).expect(lambda t: np.cos(3.0 * t), lb=-np.pi, ub=np.pi)
    np.testing.assert_allclose(found, [0.0, 0.0, third], atol=6e-3)


# --- the pieces, against other ways to compute them ---------------------------------------


def test_table_4_has_every_printed_digit() -> None:
    piece = paper.table4()
    assert piece.agrees
    assert len(piece.entries) == 30
    found = {(e.row, e.column): round(e.ours, 3) for e in piece.entries}
    assert [found[f"query {k}", "I1"] for k in (0, 1, 8)] == [1.695, 1.166, 0.248]
    assert [found[f"query {k}", "Kish ESS"] for k in (0, 1, 8)] == pytest.approx(
        [162.6, 138.2, 85.5], abs=0.05
    )
    assert [found["query 8", f"{k}"] for k in ("1st", "2nd", "3rd")] == [8, 3, 9]


def test_table_2_has_the_papers_samples() -> None:
    piece = paper.table2()
    assert piece.agrees
    entries = [e for e in piece.entries if isinstance(e, Entry)]
    assert all(e.same for e in entries)
    assert _printed_errors(entries) == (6, [])


def test_other_samples_agree_too_and_a_wrong_law_does_not(monkeypatch: Patch) -> None:
    other = paper.table2(7)
    assert other.agrees
    assert not all(e.same for e in other.entries if isinstance(e, Entry))
    monkeypatch.setitem(sphere.LAWS, "vMF cloud", laws.vmf(9.0))
    differing = {(e.row, e.column) for e in paper.table2(7).differing}
    assert {("vMF cloud", "I1"), ("vMF cloud", "kappa")} <= differing
    assert {row for row, _ in differing} == {"vMF cloud"}


def _printed_errors(entries: list[Entry]) -> tuple[int, list[Entry]]:
    """How many standard errors are printed, and the entries where ours has other digits."""
    printed = [e for e in entries if "(" in e.printed.text]
    wrong = [e for e in printed if not abs(e.se - e.printed.se) <= 0.0005 * (1 + 1e-9)]
    return len(printed), wrong


def test_the_columns_of_table_3() -> None:
    p = np.random.default_rng(8).random((3, 40)) ** 1.3
    found = calibration.figures(p)
    for row, values in zip(found, p, strict=True):
        assert row[-1] == pytest.approx(kstest(values, "uniform").statistic, rel=1e-13)
        np.testing.assert_allclose(row[:3], np.quantile(values, [0.1, 0.5, 0.9]))
        assert row[3] == np.mean(values <= 0.05)


def test_the_surrogate_in_another_basis() -> None:
    """m_vᵀ S⁻¹ m_v / 2 with plain polynomials and their covariance by quadrature."""

    def quadratics(x: Array) -> Array:
        a, b, c = x.T
        return np.stack([a * b, a * c, b * c, a * a - b * b, 3.0 * c * c - 1.0], axis=1)

    points, weights = auditing._fine_rule()
    v = quadratics(points)
    s = v.T @ (weights[:, None] * v)
    x = laws.vmf(1.2)(300, np.random.default_rng(9))
    w = calibration.ratios(x[None])[0]
    m = w @ quadratics(x)
    value, omega = calibration.surrogate(x[None], w[None])
    assert value[0] == pytest.approx(0.5 * 300 * m @ np.linalg.solve(s, m), rel=1e-10)
    z = quadratics(x) * (300.0 * w)[:, None]
    expected = np.sort(np.linalg.eigvals(np.linalg.solve(2.0 * s, z.T @ z / 300.0)).real)
    np.testing.assert_allclose(omega[0], expected, rtol=1e-9)
    assert w @ np.exp(1.2 * x[:, 2]) == pytest.approx(300.0 / np.exp(-1.2 * x[:, 2]).sum())


def test_residuals_by_adaptive_quadrature() -> None:
    x = sr.examples.load("turtles")
    profile = sr.profile(x, levels=3)
    theta = np.arctan2(x.x[:, 1], x.x[:, 0])

    def density(t: float, level: int) -> float:
        at = sr.Directions.from_angles([t])
        return float(profile.fits[level].pdf(at, measure="surface")[0])

    for level, found in enumerate(profile.residuals(degree=circle.CUTOFF).raw, start=1):
        square = 0.0
        for k in range(level + 1, circle.CUTOFF + 1):
            for wave in (np.cos, np.sin):
                fit = integrate.quad(
                    lambda t, k=k, wave=wave, level=level: wave(k * t) * density(t, level),
                    *(-np.pi, np.pi),
                    epsabs=1e-9,
                )[0]
                square += (np.mean(wave(k * theta)) - fit) ** 2
        assert found == pytest.approx(np.sqrt(square), rel=1e-7)


def test_the_kernel_density() -> None:
    x, at = sr.Directions.from_angles([0.3, 2.0]), sr.Directions.from_angles([-3.0, 0.5, 1.1])
    angles = np.arctan2(at.x[:, 1], at.x[:, 0])
    expected = [np.mean(vonmises.pdf(t, 14.0, loc=[0.3, 2.0])) for t in angles]
    np.testing.assert_allclose(circle.kernel_density(x, at, 14.0), expected, rtol=1e-12)


def test_first_gaps_near_uniformity_by_quadrature() -> None:
    for d in (3, 10):
        kappa = local_forms.concentrations(d)[[0, -1]]
        local, gaps = local_forms.first_gap(d, kappa)
        for k, form, gap in zip(kappa, local, gaps, strict=True):
            mean, deficit = _by_height(d, lambda z, k=k: k * z, lambda z: z)
            assert form == pytest.approx(0.5 * d * mean**2, rel=1e-10)
            assert gap == pytest.approx(deficit, rel=1e-9)


def test_second_gaps_near_uniformity_by_quadrature() -> None:
    for d in (3, 10):
        t = local_forms.strengths(d)[[0, -1]]
        local, gaps = local_forms.second_gap(d, t)
        for s, form, gap in zip(t, local, gaps, strict=True):
            share = d / (d - 1.0)  # xᵀB₀x = (d z² - 1)/(d - 1)
            square, deficit = _by_height(d, lambda z, s=s * share: s * z * z, lambda z: z * z)
            apart = (square - 1.0 / d) ** 2 * share  # one eigenvalue against d - 1 alike
            assert form == pytest.approx(0.25 * d * (d + 2) * apart, rel=1e-9)
            assert gap == pytest.approx(deficit, rel=1e-8)
    np.testing.assert_allclose(local_forms.strengths(3)[[0, -1]], [0.02, 1.2], rtol=1e-14)


def _by_height(d: int, exponent: object, moment: object) -> tuple[float, float]:
    """E of a function of the height, and the deficit, of p ∝ exp(exponent of the height)."""
    assert callable(exponent)
    assert callable(moment)
    z, weight = np.polynomial.legendre.leggauss(400)
    weight = weight * (1.0 - z * z) ** (0.5 * (d - 3))
    weight /= weight.sum()
    p = np.exp(exponent(z))
    total = weight @ p
    p /= total
    return float(weight @ (p * moment(z))), float(weight @ (p * np.log(p)))


def test_refitting_on_the_fine_rule() -> None:
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=3)
    np.testing.assert_allclose(auditing.refitted(profile), profile.gaps, atol=1e-10)
    ridged = auditing.refitted(profile, 0.1)
    assert ridged.sum() < profile.deficits[-1] - 1e-3  # no λ beats the optimum of the dual
    length = profile.resultant  # with √3 x as features: √3 A(κ) + 0.1 κ/√3 = √3 R
    kappa = optimize.brentq(lambda k: 1 / np.tanh(k) - 1 / k + 0.1 * k / 3.0 - length, 1e-3, 50.0)
    expected = kappa * length - np.log(np.sinh(kappa) / kappa)
    assert ridged[0] == pytest.approx(expected, abs=1e-12)


def test_rotations_do_not_move_the_gaps() -> None:
    assert auditing.rotated(sr.examples.load("mcmurdo").x, seed=5) < 1e-12


# --- the command --------------------------------------------------------------------------


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_is_printed_and_written(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "new" / "place"
    assert run(["reproduce", "table4", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "All 30 numbers agree with the paper in every printed digit." in said.out
    assert max(map(len, said.out.splitlines())) <= 80 + len(str(out))
    assert sorted(p.name for p in out.iterdir()) == ["table4.csv", "table4.md"]
    rows = rows_of(out / "table4.csv")
    assert len(rows) == 30
    first = rows[1]
    assert (first["piece"], first["row"], first["column"]) == ("table4", "query 0", "I1")
    assert float(first["ours"]) == pytest.approx(1.695, abs=5e-4)
    assert (first["paper"], first["agrees"], first["limit"]) == ("1.695", "True", "")
    assert "| query 0 | ours | 162.6 | 1.695 |" in (out / "table4.md").read_text(encoding="utf-8")


def test_a_figure_is_drawn(capsys: Capture, tmp_path: Path) -> None:
    assert run(["reproduce", "figure4", "--out", str(tmp_path)]) == 0
    assert "All 7 numbers keep their limits." in capsys.readouterr().out
    images = tmp_path / "images"
    assert (images / "paper_figure4.png").read_bytes().startswith(b"\x89PNG")
    assert (images / "paper_figure4.pdf").read_bytes().startswith(b"%PDF")
    assert "(images/paper_figure4.png)" in (tmp_path / "figure4.md").read_text(encoding="utf-8")
    found = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert found == [
        "figure4.csv",
        "figure4.md",
        "images/paper_figure4.pdf",
        "images/paper_figure4.png",
    ]


def test_pictures_are_the_same_every_time() -> None:
    piece = paper.figure1()
    assert isinstance(piece, paper.Picture)
    assert output._pictures(piece) == output._pictures(piece)


def test_a_number_that_differs_is_exit_one(
    capsys: Capture, monkeypatch: Patch, tmp_path: Path
) -> None:
    monkeypatch.setitem(digits.PRINTED, 1, digits.PRINTED[1].replace("1.166", "1.167"))
    assert run(["reproduce", "table4", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.err == "steradian: differs from the paper: table4 (query 1, I1)\n"
    assert "1 of 30 numbers differ from the paper: query 1, I1." in said.out
    wrong = [row for row in rows_of(tmp_path / "table4.csv") if row["agrees"] == "False"]
    assert [row["column"] for row in wrong] == ["I1"]


def complaint(capsys: Capture, *arguments: str) -> str:
    assert run(["reproduce", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err.removeprefix("steradian: ").rstrip("\n")


def test_what_is_not_in_the_paper(capsys: Capture) -> None:
    words = complaint(capsys, "table5")
    assert words == f"the paper has no 'table5'; choose {', '.join(catalogue.PIECES)} or all"


def test_a_file_is_no_directory(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    words = complaint(capsys, "table4", "--out", str(file))
    assert words == f"{file} is a file; give --out a directory"
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("module", "what", "words"),
    [
        ("matplotlib", "figure4", "plots need matplotlib"),
        ("matplotlib", "all", "plots need matplotlib"),
        ("sklearn", "table4", "the digits need scikit-learn"),
    ],
)
def test_a_missing_extra_is_named(
    capsys: Capture, monkeypatch: Patch, tmp_path: Path, module: str, what: str, words: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    out = tmp_path / "out"
    extra = {"matplotlib": "plots", "sklearn": "digits"}[module]
    said = complaint(capsys, what, "--out", str(out))
    assert said == f"{words}; install it with: pip install 'steradian[{extra}]'"
    assert not out.exists()


def test_nothing_is_left_behind_when_drawing_fails(tmp_path: Path) -> None:
    def fail(_figure: object) -> None:
        raise RuntimeError("no ink")

    piece = paper.figure4()
    assert isinstance(piece, paper.Picture)
    out = tmp_path / "out"
    with pytest.raises(RuntimeError, match="no ink"):
        output.write([piece, replace(piece, name="figure5", draw=fail)], out, what="all")
    assert not out.exists()


def test_every_piece_has_a_name_and_a_place_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, make in catalogue.PIECES.items():
        assert make.__name__ == name
        assert make is getattr(paper, name)
        kind, number = name.rstrip("1234"), name[-1]
        assert ("audit" if kind == "audit" else f"## {kind.capitalize()} {number}: ") in page


def test_the_page_has_the_numbers_of_table_2_and_4() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert output.as_markdown(paper.table2()) in page
    assert output.as_markdown(paper.table4()) in page


# --- everything ---------------------------------------------------------------------------


@pytest.mark.slow
def test_everything_agrees(capsys: Capture, tmp_path: Path) -> None:
    assert run(["reproduce", "all", "--out", str(tmp_path)]) == 0
    assert "DIFFERS" not in capsys.readouterr().out
    rows = rows_of(tmp_path / "paper.csv")
    assert len({row["piece"] for row in rows}) == len(catalogue.PIECES)
    assert all(row["agrees"] == "True" for row in rows)
    assert len(list((tmp_path / "images").iterdir())) == 8
    fresh = (tmp_path / "paper.md").read_text(encoding="utf-8")
    changing = "## Figure 4"  # from here on there are numbers of the size of rounding
    assert fresh.partition(changing)[0] == PAGE.read_text(encoding="utf-8").partition(changing)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table1", "table3", "figure3"])
def test_the_papers_own_samples(name: str) -> None:
    piece = catalogue.PIECES[name]()
    entries = [e for e in piece.entries if isinstance(e, Entry) and e.paper == e.paper]
    assert all(e.same for e in entries)
    count, wrong = _printed_errors(entries)
    assert not wrong
    assert count == {"table1": 24, "table3": 0, "figure3": 0}[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table1", "table3", "figure3"])
def test_other_samples_agree_within_their_errors(name: str) -> None:
    make = {"table1": paper.table1, "table3": paper.table3, "figure3": paper.figure3}[name]
    for seed in (1001, 1002, 1003):
        assert make(seed).agrees, make(seed).differing
