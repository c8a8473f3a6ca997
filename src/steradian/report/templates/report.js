"use strict";
(() => {
  const MAP = [[0, "#fcfdbf"], [0.125, "#feca8d"], [0.25, "#fd9668"], [0.375, "#f1605d"],
    [0.5, "#cd4071"], [0.625, "#9e2f7f"], [0.75, "#721f81"], [0.875, "#2d1160"], [1, "#000004"]];
  const CONFIG = { displaylogo: false, responsive: true, displayModeBar: false, scrollZoom: false };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // On paper all is drawn as on a light page, whatever the screen shows.
  const PRINTED = { paper: "#ffffff", ink: "#000000", quiet: "#444444", rule: "#cccccc", panel: "#ffffff", accent: "#000000", noise: "#9a9a9a" };
  let printing = false;
  const style = (name) => (printing ? PRINTED[name] : getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
  function onPaper(make) { printing = true; try { return make(); } finally { printing = false; } }
  const read = (key) => JSON.parse(document.getElementById(key + "-content").textContent);
  const radians = (v) => (v * Math.PI) / 180;

  // "var:ink" anywhere in a figure becomes the colour of the theme that is on.
  function themed(value) {
    if (typeof value === "string") return value.startsWith("var:") ? style(value.slice(4)) : value;
    if (Array.isArray(value)) return value.map(themed);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, themed(v)]));
    }
    return value;
  }

  function page(layout) {
    const axis = { gridcolor: style("rule"), zerolinecolor: style("rule"), linecolor: style("quiet"), automargin: true };
    const out = {
      ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: style("ink"), size: 13, family: "system-ui, sans-serif" }, autosize: true, dragmode: layout.dragmode || false,
    };
    for (const name of ["xaxis", "yaxis"]) if (layout[name]) out[name] = { ...axis, ...layout[name], fixedrange: true };
    return out;
  }

  // --- plain figures ------------------------------------------------------------------------

  // Words in lines of so many letters.
  function inLines(text, most) {
    return text.split(" ").reduce((lines, word) => {
      const last = lines.length - 1;
      if (last >= 0 && lines[last].length + word.length < most) lines[last] += " " + word; else lines.push(word);
      return lines;
    }, []).join("<br>");
  }

  // On a narrow screen names below bars stand in lines, where plotly.js would slant them across half of the figure.
  function drawFigure(key) {
    const spec = themed(read(key)), below = spec.layout.xaxis, names = spec.data[0].x;
    if (narrow() && below.type === "category" && names.length <= 4) {
      Object.assign(below, { tickvals: names, ticktext: names.map((name) => inLines(name, 12)), tickangle: 0, automargin: true });
    }
    Plotly.react(key, spec.data, page(spec.layout), CONFIG);
  }

  // --- scenes: data, and the density of the level that the slider chooses -------------------

  const views = {};

  function hover(data) { return data && data.words ? { text: data.words, hoverinfo: "text" } : { hoverinfo: "skip" }; }

  function colourBar(content) {
    const top = content.top;
    const ticks = [...(top < 12 ? [0] : []), 1, ...[0.25, 0.5, 0.75, 1].map((s) => s * top).filter((v) => v > 1.6)];
    const across = narrow() ? { orientation: "h", len: 0.9, y: -0.12 } : { len: 0.8 };
    return {
      cmin: 0, cmax: top, colorscale: MAP,
      colorbar: {
        title: { text: "density, uniform = 1", side: narrow() ? "top" : "right" }, thickness: 14, tickvals: ticks,
        ticktext: ticks.map((v) => (v === 1 && !narrow() ? "1 = uniform" : String(Number(v.toPrecision(2))))),
        outlinewidth: 0, tickcolor: style("quiet"), ...across,
      },
    };
  }

  // Many points are small, so that the density stays in sight.
  function markers(content, most) {
    const data = content.data, size = Math.max(2.5, most * Math.min(1, Math.sqrt(150 / data.x.length)));
    const scale = data.sizes ? data.sizes.map((s) => Math.max(1.5, size * s)) : size;
    return { size: scale, color: style("ink"), opacity: data.opacity, line: { width: 0.8, color: style("paper") } };
  }

  const narrow = () => window.innerWidth < 600;

  // Below an axis with its title, where the bar lies on its side.
  const under = (bar) => (bar.orientation === "h" ? { ...bar, y: -0.5 } : bar);

  // On a narrow screen the eye steps back, so that the labels of the poles are seen.
  function backed(camera) {
    const far = narrow() ? 1.3 : 1, { x, y, z } = camera.eye;
    return { ...camera, eye: { x: far * x, y: far * y, z: far * z } };
  }

  // A scene that turns keeps its third axis up: where z is down, all is turned half about the first.
  function globe(content, level) {
    const up = content.downward ? -1 : 1;
    const lat = content.lat.map(radians), lon = content.lon.map(radians);
    const grid = (f) => lat.map((a) => lon.map((b) => f(a, b)));
    const traces = [{
      type: "surface", x: grid((a, b) => Math.cos(a) * Math.cos(b)), y: grid((a, b) => up * Math.cos(a) * Math.sin(b)),
      z: grid((a) => up * Math.sin(a)), surfacecolor: content.values[level], ...colourBar(content), hoverinfo: "skip",
      lighting: { ambient: 0.95, diffuse: 0.15, specular: 0, roughness: 1, fresnel: 0 }, contours: { x: { highlight: false }, y: { highlight: false }, z: { highlight: false } },
    }];
    const lines = { x: [], y: [], z: [] };
    const put = (a, b) => { const r = 1.004; lines.x.push(r * Math.cos(a) * Math.cos(b)); lines.y.push(r * Math.cos(a) * Math.sin(b)); lines.z.push(r * Math.sin(a)); };
    const lift = () => { lines.x.push(null); lines.y.push(null); lines.z.push(null); };
    for (const a of [-60, -30, 0, 30, 60]) { for (let b = 0; b <= 360; b += 4) put(radians(a), radians(b)); lift(); }
    for (let b = 0; b < 360; b += 30) { for (let a = -90; a <= 90; a += 4) put(radians(a), radians(b)); lift(); }
    traces.push({ type: "scatter3d", mode: "lines", ...lines, line: { color: "rgba(110,110,110,0.8)", width: 1.5 }, hoverinfo: "skip", showlegend: false });
    if (content.data) {
      const { x, y, z } = content.data;
      const out = (v) => v.map((c) => 1.015 * c);
      traces.push({ type: "scatter3d", mode: "markers", x: out(x), y: out(y.map((c) => up * c)), z: out(z.map((c) => up * c)), ...hover(content.data), marker: { ...markers(content, 4), color: "#ffffff", line: { width: 1, color: "#000000" } }, showlegend: false });
    }
    const poles = content.poles;
    const far = 1.18, side = up * far;
    // Discs of the page's colour behind the words: no line runs through them, and they read on light and dark.
    traces.push({
      type: "scatter3d", mode: "markers+text", x: [far, -far, 0, 0, 0, 0], y: [0, 0, side, -side, 0, 0], z: [0, 0, 0, 0, side, -side],
      text: poles, textfont: { color: style("ink"), size: 13 }, textposition: "middle center", hoverinfo: "skip", showlegend: false,
      marker: { symbol: "circle", size: poles.map((word) => 14 + 8 * word.length), color: style("paper"), opacity: 1, line: { width: 0 } },
    });
    const none = { visible: false, showspikes: false };
    return {
      traces,
      layout: {
        margin: { l: 0, r: 0, t: 0, b: 0 }, dragmode: "turntable", uirevision: "keep",
        scene: { xaxis: none, yaxis: none, zaxis: none, aspectmode: "cube", dragmode: "turntable", camera: views.camera || backed(content.camera) },
      },
    };
  }

  function flat(content, level) {
    const [across, up] = content.words, marked = ({ at, words }) => ({ tickvals: at, ticktext: words });
    const traces = [{
      type: "heatmap", x: content.lon, y: content.lat, z: content.values[level], zmin: 0, zmax: content.top, colorscale: MAP,
      text: up.map((b) => across.map((a) => a + ", " + b)), hovertemplate: "%{text}: %{z}<extra></extra>", colorbar: under(colourBar(content).colorbar),
    }];
    if (content.data) {
      const lon = content.data.x.map((x, k) => ((Math.atan2(content.data.y[k], x) * 180) / Math.PI + 360) % 360);
      const lat = content.data.z.map((z) => (Math.asin(Math.max(-1, Math.min(1, z))) * 180) / Math.PI);
      traces.push({ type: "scatter", mode: "markers", x: lon, y: lat, ...hover(content.data), marker: { ...markers(content, 6), color: "#ffffff", line: { width: 1, color: "#000000" } }, showlegend: false });
    }
    return {
      traces,
      layout: {
        margin: { l: 55, r: 10, t: 10, b: 60 },
        xaxis: { title: { text: content.names[0] }, range: content.leftward ? [360, 0] : [0, 360], ...marked(content.ticks[0]) },
        yaxis: { title: { text: content.names[1] }, range: content.downward ? [90, -90] : [-90, 90], ...marked(content.ticks[1]) },
      },
    };
  }

  function circle(content, level) {
    const traces = [
      { type: "scatterpolar", mode: "lines", theta: content.theta, r: content.theta.map(() => 1), line: { color: style("quiet"), dash: "dot", width: 1.5 }, name: "uniform", hoverinfo: "skip" },
      { type: "scatterpolar", mode: "lines", theta: content.theta, r: content.values[level], fill: "toself", line: { color: content.colours[level], width: 2.5 }, opacity: 0.85, name: "density", text: content.words, hovertemplate: "%{text}: %{r}<extra></extra>" },
    ];
    if (content.bins) {
      traces.unshift({ type: "barpolar", theta: content.bins.theta, r: content.bins.r, width: content.bins.width, marker: { color: style("noise"), opacity: 0.5, line: { width: 0 } }, name: "data, as a density", hovertemplate: "data: %{r}<extra></extra>" });
    }
    return {
      traces,
      layout: {
        margin: { l: 55, r: 55, t: 30, b: 30 }, legend: { orientation: "h", y: -0.12 },
        polar: {
          bgcolor: "rgba(0,0,0,0)", radialaxis: { range: [0, content.top], gridcolor: style("rule"), color: style("quiet"), angle: 45, tickangle: 0, nticks: 4 },
          angularaxis: { direction: content.clockwise ? "clockwise" : "counterclockwise", rotation: content.rotation, gridcolor: style("rule"), color: style("ink"), tickvals: content.ticks.at, ticktext: content.ticks.words },
        },
      },
    };
  }

  function torus(content, level) {
    const traces = [{
      type: "heatmap", x: content.angle, y: content.angle, z: content.values[level], zmin: 0, zmax: content.top, colorscale: MAP,
      colorbar: under(colourBar(content).colorbar), hovertemplate: "%{x}°, %{y}°: %{z}<extra></extra>",
    }];
    if (content.data) traces.push({ type: "scatter", mode: "markers", x: content.data.x, y: content.data.y, ...hover(content.data), marker: { ...markers(content, 6), color: "#ffffff", line: { width: 1, color: "#000000" } }, showlegend: false });
    const turn = { range: [-180, 180], dtick: 60, constrain: "domain" };
    return {
      traces,
      layout: {
        margin: { l: 60, r: narrow() ? 24 : 10, t: 10, b: 50 },
        xaxis: { title: { text: content.names[0] + ", degrees" }, ...turn }, yaxis: { title: { text: content.names[1] + ", degrees" }, ...turn, scaleanchor: "x", constrain: "domain" },
      },
    };
  }

  const webgl = (() => {
    try { const c = document.createElement("canvas"); return Boolean(c.getContext("webgl2") || c.getContext("webgl")); } catch (e) { return false; }
  })();

  function sceneOf(key, kind) {
    const content = views[key].content, made = kind(content, views[key].level);
    return { data: made.traces, layout: page({ ...made.layout, showlegend: content.chart === "circle" }) };
  }

  function drawScene(key) {
    const { content } = views[key];
    const kind = content.chart === "sphere" ? (views[key].flat || !webgl ? flat : globe) : { circle, torus }[content.chart];
    const { data, layout } = sceneOf(key, kind);
    const target = document.getElementById(key);
    if (views[key].kind && views[key].kind !== kind) Plotly.purge(target);
    views[key].kind = kind;
    return Plotly.react(target, data, layout, CONFIG).then(() => still(key));
  }

  // What a printer shows of a picture that is drawn by the graphics card.
  function still(key) {
    clearTimeout(views[key].waiting);
    views[key].waiting = setTimeout(() => {
      const target = document.getElementById(key);
      const printed = onPaper(() => sceneOf(key, views[key].kind));
      if (printed.layout.scene) printed.layout.scene.camera = camera(key);
      Plotly.toImage({ ...printed, config: CONFIG }, { format: "png", width: 760, height: 560 }).then((url) => {
        document.getElementById(key + "-still").src = url;
        target.dataset.still = "ready";
      });
    }, 500);
  }

  function camera(key) {
    const target = document.getElementById(key);
    const scene = target._fullLayout && target._fullLayout.scene;
    return scene && scene._scene ? scene._scene.getCamera() : views[key].content.camera;
  }

  // Turns about the axis that points up on the screen, and tilts towards it.
  function turn(key, way) {
    if (way === "flat") {
      views[key].flat = !views[key].flat;
      const button = document.querySelector('[data-turn="flat"]');
      button.setAttribute("aria-pressed", String(views[key].flat));
      return drawScene(key);
    }
    if (views[key].flat || !webgl) return null;
    const step = Math.PI / 18;
    const by = { left: [-step, 0], right: [step, 0], up: [0, step], down: [0, -step], behind: [Math.PI, null] }[way];
    return turnBy(key, ...by);
  }

  // By angles: about the vertical, and towards the top; null turns to the other side of the equator.
  function turnBy(key, round, tilt) {
    const now = camera(key), up = now.up.z < 0 ? -1 : 1, { x, y } = now.eye, z = now.eye.z * up;
    const size = Math.hypot(x, y, z);
    const across = Math.atan2(y, x) + up * round;
    let above = Math.asin(Math.max(-1, Math.min(1, z / size)));
    above = tilt === null ? -above : Math.max(-1.5, Math.min(1.5, above + tilt));
    const eye = { x: size * Math.cos(above) * Math.cos(across), y: size * Math.cos(above) * Math.sin(across), z: up * size * Math.sin(above) };
    views.camera = { ...now, eye };
    document.getElementById(key).dataset.eye = JSON.stringify(eye);
    return Plotly.relayout(key, { "scene.camera": views.camera }).then(() => still(key));
  }

  const KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

  function startScene(key) {
    const content = read(key);
    views[key] = { content, level: content.first, flat: false };
    const slider = document.getElementById(key + "-level"), words = document.getElementById(key + "-words");
    slider.addEventListener("input", () => {
      views[key].level = Number(slider.value);
      slider.setAttribute("aria-valuetext", content.levels[views[key].level]);
      words.textContent = content.levels[views[key].level];
      drawScene(key);
    });
    const target = document.getElementById(key);
    if (!webgl) document.querySelectorAll(".turning").forEach((one) => { one.hidden = true; }); // a flat map does not turn
    drawScene(key).then(() => {
      target.on("plotly_relayout", () => {
        if (target._fullLayout.scene) { views.camera = camera(key); target.dataset.eye = JSON.stringify(views.camera.eye); }
        still(key);
      });
      target.dataset.drawn = "yes";
    });
    target.addEventListener("keydown", (event) => {
      if (content.chart !== "sphere" || !(event.key in KEYS)) return;
      event.preventDefault();
      turn(key, KEYS[event.key]);
    });
    // plotly.js turns scenes by mouse only; a finger turns them sideways, and scrolls the page up and down.
    let finger = null;
    target.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") finger = event.clientX; }, true);
    for (const end of ["pointerup", "pointercancel"]) target.addEventListener(end, () => { finger = null; }, true);
    target.addEventListener("pointermove", (event) => {
      if (finger === null || event.pointerType !== "touch" || content.chart !== "sphere" || views[key].flat || !webgl) return;
      const moved = event.clientX - finger;
      if (Math.abs(moved) < 4) return;
      finger = event.clientX;
      turnBy(key, -moved / 120, 0);
    }, true);
    for (const button of document.querySelectorAll("[data-turn]")) {
      button.addEventListener("click", () => turn(key, button.dataset.turn));
    }
  }

  // --- the page -----------------------------------------------------------------------------

  const keys = [...document.querySelectorAll(".plot")].map((one) => one.id);
  const kinds = Object.fromEntries(keys.map((key) => [key, read(key).kind]));
  const shown = (key) => document.getElementById(key).offsetParent !== null;
  const figures = () => keys.filter((key) => kinds[key] === "figure" && shown(key)).forEach(drawFigure);

  keys.filter((key) => kinds[key] === "scene").forEach(startScene);
  figures();
  for (const one of document.querySelectorAll("details")) one.addEventListener("toggle", figures);
  const repaint = () => { figures(); keys.filter((key) => kinds[key] === "scene").forEach(drawScene); };
  dark.addEventListener("change", repaint);
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
    onPaper(figures);
  });
  window.addEventListener("afterprint", figures);

  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => {
      const text = button.parentElement.querySelector("p, pre").textContent;
      const done = () => { button.dataset.label = button.dataset.label || button.textContent; button.textContent = "Copied"; setTimeout(() => { button.textContent = button.dataset.label; }, 1500); };
      const select = () => { const range = document.createRange(); range.selectNodeContents(button.parentElement.querySelector("p, pre")); const all = window.getSelection(); all.removeAllRanges(); all.addRange(range); if (document.execCommand("copy")) done(); };
      if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, select); else select();
    });
  }
})();
