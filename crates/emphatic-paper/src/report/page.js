"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("data").textContent);
  const tooltip = document.createElement("div");
  tooltip.id = "tooltip";
  tooltip.setAttribute("role", "status");
  tooltip.hidden = true;
  document.body.append(tooltip);

  /** The panel that shows values, if one does. */
  let current = null;

  const svgElement = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  /** Where a value of this axis is in the drawing, by what the drawing says of the axis. */
  const ruler = (text) => {
    const [low, high, from, to, scale] = text.split(" ").map((part, index) => (index < 4 ? Number(part) : part));
    const measure = scale === "log" ? Math.log10 : Number;
    return (value) => from + ((measure(value) - low) / (high - low)) * (to - from);
  };

  const signed = (text) => text.replace("-", "−");

  const short = (number) => signed(String(Number(number.toPrecision(4))));

  /** With as many decimals as two digits of the standard error need. */
  const withError = (value, error) => {
    if (error === null) return short(value);
    const decimals = error > 0 ? 1 - Math.floor(Math.log10(error)) : 4;
    if (decimals > 8 || Math.abs(value) >= 1e7) return `${signed(value.toExponential(3))} ± ${error.toExponential(1)}`;
    const fixed = (number) => number.toFixed(Math.max(0, decimals));
    return `${signed(fixed(value))} ± ${fixed(error)}`;
  };

  /** Everything the pointer needs of a panel. */
  const prepare = (section, figure, panel) => {
    const svg = document.getElementById(`${figure.id}-${panel.name}`);
    const plot = svg.querySelector(".plot");
    const guide = svgElement("g", { class: "guide" });
    plot.append(guide);
    const lines = panel.lines.map((line, index) => ({ ...line, group: plot.querySelectorAll("g.method")[index] }));
    const view = { svg, guide, lines, panel, section, x: ruler(plot.dataset.x), y: ruler(plot.dataset.y), at: null };
    view.bottom = Number(plot.dataset.y.split(" ")[2]);
    view.top = Number(plot.dataset.y.split(" ")[3]);
    // Browsers would show the title as a tooltip of their own.
    const title = svg.querySelector("title");
    svg.setAttribute("aria-label", `${title.textContent}. Arrow keys read the values.`);
    svg.removeAttribute("aria-labelledby");
    svg.setAttribute("aria-describedby", svg.querySelector("desc").id);
    title.remove();
    svg.classList.add("live");
    svg.setAttribute("tabindex", "0");
    return view;
  };

  const visible = (view) => view.lines.filter((line) => !line.group.classList.contains("off"));

  /** The places of visible points, ascending, each once. */
  const places = (view) => {
    const all = visible(view).flatMap((line) => line.x.filter((x) => x !== null && Number.isFinite(view.x(x))));
    return [...new Set(all)].sort((a, b) => a - b);
  };

  const nearest = (view, clientX) => {
    const matrix = view.svg.getScreenCTM();
    const pixel = (clientX - matrix.e) / matrix.a;
    const distance = (x) => Math.abs(view.x(x) - pixel);
    return places(view).reduce((best, x) => (best === null || distance(x) < distance(best) ? x : best), null);
  };

  const row = (view, line, index) => {
    const swatch = view.section.querySelector(`.legend button[data-method="${CSS.escape(line.method)}"] svg`);
    const tr = document.createElement("tr");
    const name = document.createElement("th");
    const value = document.createElement("td");
    name.scope = "row";
    name.append(swatch.cloneNode(true), line.method);
    value.textContent = line.y[index] === null ? "diverged" : withError(line.y[index], line.error[index]);
    tr.append(name, value);
    return tr;
  };

  const show = (view, x) => {
    if (x === null) return hide();
    if (current !== view) hide();
    else if (view.at === x && !tooltip.hidden) return;
    current = view;
    view.at = x;
    const pixel = view.x(x);
    const heading = document.createElement("b");
    heading.textContent = `${view.panel.label}: ${short(x)}`;
    const table = document.createElement("table");
    view.guide.replaceChildren(svgElement("line", { x1: pixel, x2: pixel, y1: view.top, y2: view.bottom }));
    for (const line of visible(view)) {
      const index = line.x.indexOf(x);
      if (index < 0) continue;
      table.append(row(view, line, index));
      const y = line.y[index] === null ? NaN : view.y(line.y[index]);
      const color = line.group.getAttribute("color");
      if (Number.isFinite(y)) view.guide.append(svgElement("circle", { cx: pixel, cy: y, r: 4.6, color }));
    }
    tooltip.replaceChildren(heading, table);
    tooltip.hidden = false;
    place();
  };

  /** Under the panel, or over it for a finger, so that no line is hidden; always within the window. */
  const place = () => {
    if (!current) return;
    const panel = current.svg.getBoundingClientRect();
    const matrix = current.svg.getScreenCTM();
    const { offsetWidth: width, offsetHeight: height } = tooltip;
    const [right, bottom] = [document.documentElement.clientWidth - 8, window.innerHeight - 8];
    const [over, under] = [panel.top - 8 - height, panel.bottom + 4];
    const left = matrix.a * current.x(current.at) + matrix.e - width / 2;
    const top = current.finger ? (over >= 8 ? over : under) : under + height <= bottom ? under : over;
    const within = (value, most) => Math.round(Math.max(8, Math.min(value, most)));
    tooltip.style.transform = `translate(${within(left, right - width)}px, ${within(top, bottom - height)}px)`;
  };

  const hide = () => {
    if (current) current.guide.replaceChildren();
    current = null;
    tooltip.hidden = true;
  };

  /** The place a key leads to, from the one last shown. */
  const step = (view, key) => {
    const all = places(view);
    const index = all.indexOf(view.at);
    const targets = { ArrowLeft: Math.max(0, index - 1), ArrowRight: Math.min(all.length - 1, index + 1), Home: 0, End: all.length - 1 };
    return key in targets && all.length > 0 ? all[targets[key]] : null;
  };

  const listen = (view) => {
    const follow = (event) => {
      view.finger = event.pointerType === "touch";
      show(view, nearest(view, event.clientX));
    };
    view.svg.addEventListener("pointerdown", follow);
    view.svg.addEventListener("pointermove", follow);
    // A finger that is lifted leaves the values to be read.
    view.svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    view.svg.addEventListener("pointercancel", hide);
    view.svg.addEventListener("blur", hide);
    view.svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const x = step(view, event.key);
      if (x === null) return;
      event.preventDefault();
      show(view, x);
    });
  };

  const toggle = (section, button) => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    for (const group of section.querySelectorAll(".panels g.method")) {
      if (group.dataset.method === button.dataset.method) group.classList.toggle("off", !shown);
    }
    hide();
  };

  for (const figure of figures) {
    const section = document.getElementById(figure.id);
    for (const panel of figure.panels) listen(prepare(section, figure, panel));
    for (const button of section.querySelectorAll(".legend button")) {
      button.disabled = false;
      button.addEventListener("click", () => toggle(section, button));
    }
  }
  document.addEventListener("pointerdown", (event) => {
    if (current && !current.svg.contains(event.target)) hide();
  });
  window.addEventListener("scroll", place, { passive: true });
  window.addEventListener("resize", hide);
})();
