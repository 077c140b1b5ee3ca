// Shared parts of the charts: a figure with a sentence and a table, a plot that is updated in place,
// colours from the style sheet, labels at the ends of lines.

import { el, fillTable, label, setClass, setText, show } from "./dom.js";
import { rateTicks, timeTicks } from "./words.js";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const alive = new Set();
let colours = new Map();

dark.addEventListener("change", () => {
  colours = new Map();
  for (const plot of alive) plot.repaint();
});

/** A colour of the style sheet, such as "--text". */
export function colour(name) {
  if (!colours.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colours.set(name, style.getPropertyValue(name).trim());
  }
  return colours.get(name);
}

export const FONT = "12px system-ui, sans-serif";

export function axis(more = {}) {
  return {
    stroke: () => colour("--muted"),
    font: FONT,
    grid: { stroke: () => colour("--grid"), width: 1 },
    ticks: { show: false },
    ...more,
  };
}

/** An axis of rewards, as wide as its labels need. */
export function rewardAxis(more = {}) {
  return axis({
    size: (_, texts) => 18 + 7 * Math.max(4, ...(texts ?? []).map((text) => text.length)),
    values: (_, splits) => rateTicks(splits),
    ...more,
  });
}

export function timeAxis() {
  return axis({
    size: 30,
    space: 64,
    values: (_, splits, __, ___, incr) => timeTicks(splits, incr),
  });
}

/** A uPlot that follows the size of its host, and is rebuilt only if its options change. */
export class Plot {
  #host;
  #observer;
  #shape = null;
  #drawn = null;
  chart = null;

  constructor(host) {
    this.#host = host;
    this.#observer = new ResizeObserver(() => this.#fit());
    this.#observer.observe(host);
    alive.add(this);
  }

  #size() {
    return {
      width: Math.max(120, Math.floor(this.#host.clientWidth)),
      height: Math.max(90, Math.floor(this.#host.clientHeight)),
    };
  }

  #fit() {
    if (!this.chart || !this.#host.clientWidth) return;
    const { width, height } = this.#size();
    if (width !== this.chart.width || height !== this.chart.height) {
      this.chart.setSize({ width, height });
    }
  }

  /** `shape` names the options; `more` is what else is drawn, to notice its changes. */
  draw(shape, options, data, more = null) {
    const drawn = JSON.stringify([data, more]);
    if (this.#shape === shape && this.#drawn === drawn) return;
    this.#drawn = drawn;
    if (this.#shape === shape && this.chart) {
      this.chart.setData(data);
      return;
    }
    this.clear();
    this.#shape = shape;
    this.#drawn = drawn;
    const common = {
      ...this.#size(),
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    };
    this.chart = new window.uPlot({ ...common, ...options() }, data, this.#host);
  }

  repaint() {
    this.chart?.redraw(true, true);
  }

  clear() {
    this.chart?.destroy();
    this.chart = null;
    this.#shape = null;
  }

  remove() {
    this.clear();
    this.#observer.disconnect();
    alive.delete(this);
  }
}

let numbered = 0;

/** A figure: the plot, the readout under the pointer, a sentence, and the data as a table. */
export class Figure {
  #heads = [];
  #rows = () => [];

  constructor(size) {
    numbered += 1;
    const caption = `figure-${numbered}`;
    this.host = el("div", { class: `plot ${size}`, role: "img", "aria-labelledby": caption });
    this.ends = el("div", { class: "ends", "aria-hidden": "true" });
    this.readout = el("p", { class: "readout", "aria-hidden": "true" });
    this.caption = el("figcaption", { id: caption });
    this.table = el("table");
    const summary = el("summary", {}, "The figures as a table");
    const scroll = el("div", { class: "scroll", tabindex: "0", role: "group" }, this.table);
    scroll.setAttribute("aria-label", "Figures of the chart");
    this.details = el("details", {}, summary, scroll);
    this.stage = el("div", { class: "stage" }, this.host, this.readout, this.ends);
    this.node = el("figure", {}, this.stage, this.caption, this.details);
    this.plot = new Plot(this.host);
    this.details.addEventListener("toggle", () => this.#fill());
  }

  /** The approximate width of the plot. */
  pixels() {
    return this.node.clientWidth || 900;
  }

  say(sentence, heads, rows) {
    setText(this.caption, sentence);
    this.caption.title = sentence;
    this.#heads = heads;
    this.#rows = rows;
    show(this.stage, true);
    show(this.details, true);
    this.#fill();
  }

  /** Hides the plot; the sentence says why. */
  empty(sentence) {
    setText(this.caption, sentence);
    this.plot.clear();
    show(this.stage, false);
    show(this.details, false);
  }

  #fill() {
    if (this.details.open) fillTable(this.table, this.#heads, this.#rows());
  }

  remove() {
    this.plot.remove();
  }
}

const LINE = 18; // pixels a label takes
const NARROW = 480; // pixels of a chart that has its labels below

/**
 * Writes labels at the right end of the plot, each at its value, without overlap; if the plot is
 * narrow, in a row below. `wanted` is a list of {text, value, colour, mark}.
 */
export function writeEnds(chart, ends, wanted) {
  const narrow = chart.width < NARROW;
  setClass(ends, narrow ? "ends below" : "ends");
  const left = chart.over.offsetLeft + chart.over.offsetWidth + 12;
  const top = chart.over.offsetTop;
  const bottom = top + chart.over.offsetHeight;
  const placed = wanted
    .map((end) => ({ ...end, y: top + chart.valToPos(end.value, "y") }))
    .sort((a, b) => a.y - b.y);
  // Push labels down until none overlap, then up from the bottom edge.
  let above = top - LINE / 2;
  for (const end of placed) above = end.y = Math.max(end.y, above + LINE);
  let below = bottom + LINE / 2;
  for (const end of placed.toReversed()) below = end.y = Math.min(end.y, below - LINE);
  ends.replaceChildren(
    ...placed.map((end) => {
      const node = el(
        "div",
        { class: "end" },
        el("span", { class: `mark ${end.mark}` }),
        label(end.text),
      );
      if (!narrow) {
        node.style.left = `${left}px`;
        node.style.top = `${end.y - LINE / 2}px`;
        node.style.width = `${Math.max(40, chart.width - left)}px`;
      }
      node.style.setProperty("--mark", end.colour);
      return node;
    }),
  );
}

/** The width of the labels at the right. */
export function gutter(chart) {
  return chart.width < NARROW ? 10 : Math.round(Math.min(170, 0.25 * chart.width));
}
