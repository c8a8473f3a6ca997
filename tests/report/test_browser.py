"""The report in headless Chromium, with no network: it draws, turns, slides and keeps to itself.

Skipped where Chromium, its driver or selenium are not installed. ``STERADIAN_AXE`` may name the
file ``axe.min.js`` of axe-core (npm), with which accessibility is checked too.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steradian as sr

webdriver = pytest.importorskip("selenium.webdriver")
pytest.importorskip("plotly")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="Chromium or its driver is missing"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the driver's own sockets
]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=720,640",
)  # a small window: the sphere is drawn without a graphics card, pixel by pixel  # fmt: skip
HOSTILE = "<script>document.title='gone'</script>\"'&<img src=x onerror=alert(1)>\u202e\u05d0"
ARROWS = {"left": "\ue012", "right": "\ue014", "up": "\ue013", "home": "\ue011"}
EYE = "return JSON.parse(document.getElementById('density').dataset.eye || 'null')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(300)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def mcmurdo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "mcmurdo.html"
    long = HOSTILE + 10_000 * "W"
    return sr.profile(sr.examples.load("mcmurdo")).report(path, title=long, call=HOSTILE)


def until(browser: Any, script: str, seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = browser.execute_script(f"return {script}")
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(script)


def opened(browser: Any, path: Path) -> None:
    browser.get_log("browser"), browser.get_log("performance")  # of what was open before
    browser.get(path.as_uri())
    until(browser, "document.getElementById('density').dataset.still === 'ready'")


def complaints(browser: Any) -> list[str]:
    return [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]


def requested(browser: Any) -> list[str]:
    """What was asked for over any network, besides the file itself."""
    events = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    stopped = {
        e["params"]["requestId"]
        for e in events
        if e["method"] == "Network.loadingFailed" and e["params"].get("blockedReason") == "csp"
    }  # announced, and refused before anything was sent
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    urls = [one["request"]["url"] for one in sent if one["requestId"] not in stopped]
    return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]


def test_it_draws_without_complaint_or_request(browser: Any, mcmurdo: Path) -> None:
    opened(browser, mcmurdo)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    until(browser, "document.querySelectorAll('.js-plotly-plot .main-svg').length >= 8")
    up = browser.execute_script(
        "const p = document.getElementById('density'), t = p.data[p.data.length - 1];"
        "return [t.text[5], t.z[5], p.data[0].z[0][0], p._fullLayout.scene._scene.getCamera().up.z]"
    )
    assert up == ["up", 1.18, 1, 1]  # though z is down, up is up on the screen
    assert complaints(browser) == []
    assert requested(browser) == []
    outside = "performance.getEntriesByType('resource').map(e => e.name)"
    assert [u for u in browser.execute_script(f"return {outside}") if u.startswith("http")] == []


def test_hostile_words_are_shown_and_do_nothing(browser: Any, mcmurdo: Path) -> None:
    opened(browser, mcmurdo)
    heading = browser.find_element("tag name", "h1").get_property("textContent")
    assert heading.startswith(HOSTILE)
    assert len(heading) > 10_000
    assert browser.title != "gone"
    assert len(browser.find_elements("css selector", "h1 *, pre *")) == 0
    wide, seen = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert wide <= seen


def test_a_script_from_elsewhere_is_refused(browser: Any, mcmurdo: Path) -> None:
    opened(browser, mcmurdo)
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.broken = 1';"
        "document.body.append(s); const i = new Image(); i.src = 'https://example.org/x.png';"
    )
    assert browser.execute_script("return window.broken") is None
    refused: list[str] = []
    end = time.monotonic() + 60.0
    while len(refused) < 2 and time.monotonic() < end:  # logs come a moment later
        refused += complaints(browser)
    assert all("Content Security Policy" in words for words in refused)
    assert len(refused) >= 2
    assert requested(browser) == []


def test_the_slider_chooses_the_density(browser: Any, mcmurdo: Path) -> None:
    opened(browser, mcmurdo)
    slider = browser.find_element("id", "density-level")
    colour = (
        "document.getElementById('density').data[0].surfacecolor.flat()"
        ".reduce((a, b) => Math.max(a, b))"
    )
    before = browser.execute_script(f"return {colour}")
    slider.send_keys(ARROWS["left"])
    until(browser, f"{colour} !== {before}")
    words = browser.find_element("id", "density-words").text
    assert words.startswith("level 3: three-fold, 0.148 nats")
    assert slider.get_attribute("aria-valuetext") == words
    slider.send_keys(ARROWS["home"])
    until(browser, f"{colour} === 1")
    assert browser.find_element("id", "density-words").text == "level 0: the uniform law"


def test_the_sphere_turns_by_keys_buttons_mouse_and_touch(browser: Any, mcmurdo: Path) -> None:
    opened(browser, mcmurdo)
    sphere = browser.find_element("id", "density")
    seen = [
        browser.execute_script("return document.getElementById('density').layout.scene.camera.eye")
    ]

    def moved() -> None:
        until(browser, f"(() => {{ {EYE} }})() && JSON.stringify((() => {{ {EYE} }})()) !== "
              f"'{json.dumps(seen[-1], separators=(',', ':'))}'")  # fmt: skip
        seen.append(browser.execute_script(EYE))
        assert np.linalg.norm(list(seen[-1].values())) == pytest.approx(1.35, abs=0.02)

    browser.execute_script("arguments[0].focus(); arguments[0].scrollIntoView()", sphere)
    for key in ("left", "up"):
        webdriver.ActionChains(browser).send_keys(ARROWS[key]).perform()
        moved()
    browser.find_element("css selector", "[data-turn=behind]").click()
    moved()
    drag = webdriver.ActionChains(browser)
    drag.move_to_element(sphere).click_and_hold().move_by_offset(90, 20).release().perform()
    moved()
    box = sphere.rect
    scroll = browser.execute_script("return window.scrollY")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 - scroll
    for kind, dx in (("touchStart", 0), ("touchMove", 40), ("touchMove", 90), ("touchEnd", 0)):
        points = [] if kind == "touchEnd" else [{"x": x + dx, "y": y}]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    moved()
    assert complaints(browser) == []


def test_a_flat_map_shows_both_sides(browser: Any, mcmurdo: Path) -> None:
    opened(browser, mcmurdo)
    button = browser.find_element("css selector", "[data-turn=flat]")
    button.click()
    until(browser, "document.getElementById('density').data[0].type === 'heatmap'")
    assert button.get_attribute("aria-pressed") == "true"
    assert complaints(browser) == []


@pytest.mark.parametrize("name", ["turtles", "torus"])
def test_other_charts_slide_too(browser: Any, name: str, tmp_path: Path) -> None:
    data = sr.examples.load("turtles")
    if name == "torus":
        phi = np.random.default_rng(0).vonmises(0.0, 2.0, 200)
        data = sr.Directions.from_dihedrals(phi, np.random.default_rng(1).vonmises(phi, 3.0))
    opened(browser, sr.profile(data, levels=2).report(tmp_path / "out.html"))
    browser.find_element("id", "density-level").send_keys(ARROWS["left"])
    until(browser, "document.getElementById('density-words').textContent.startsWith('level 1')")
    assert complaints(browser) == []
    assert requested(browser) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 400])
def test_accessibility(browser: Any, theme: str, width: int, tmp_path: Path) -> None:
    axe = os.environ.get("STERADIAN_AXE", "")
    if not Path(axe).is_file():
        pytest.skip("STERADIAN_AXE names no axe.min.js")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": theme}]},
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(browser, sr.profile(sr.examples.load("turtles")).report(tmp_path / "out.html"))
        browser.execute_script(
            "document.querySelectorAll('details').forEach(d => { d.open = true; })"
        )
        browser.execute_script(Path(axe).read_text(encoding="utf-8"))
        found = browser.execute_async_script(
            "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => "
            "[v.impact, v.id, v.nodes.map(n => n.html.slice(0, 120))])))"
        )
        wide = browser.execute_script("return document.documentElement.scrollWidth")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [v for v in found if v[0] in {"serious", "critical"}] == []
    assert wide <= width
