// What each showing of an arm is worth: one small chart an arm, all with the same axes.

import { each, el, label, setClass, setLabel, setText, show } from "./dom.js";
import { Figure, axis, colour } from "./plots.js";
import { UNKNOWN, count, rate, rateTicks, several } from "./words.js";

const FIRST = 12; // arms that are drawn before somebody asks for all

export class CurvesChart {
  #all = false;
  #panels = new Map();
  #last = null;

  constructor() {
    this.legend = el("p", { class: "quiet legend" });
    this.grid = el("div", { class: "panels" });
    this.more = el("button", { type: "button", "aria-expanded": "false" });
    this.node = el("div", {}, this.legend, this.grid, this.more);
    this.more.addEventListener("click", () => {
      this.#all = !this.#all;
      this.update(this.#last);
    });
  }

  update(experiment) {
    this.#last = experiment;
    const { arms } = experiment;
    // The open ones first; otherwise in the order they came.
    const order = [...arms.filter((arm) => arm.open), ...arms.filter((arm) => !arm.open)];
    const drawn = this.#all ? order : order.slice(0, FIRST);
    const common = axes(order);
    show(this.legend, common.any);
    setText(this.legend, legend(experiment, common));
    show(this.more, order.length > FIRST);
    setText(this.more, this.#all ? `Draw the first ${FIRST} only` : `Draw all ${count(order.length)} arms`);
    this.more.setAttribute("aria-expanded", String(this.#all));
    each(
      this.grid,
      drawn,
      (arm) => arm.arm,
      (arm) => {
        const panel = new Panel();
        this.#panels.set(arm.arm, panel);
        return panel.node;
      },
      (_, arm) => this.#panels.get(arm.arm).update(arm, common, experiment.audience),
    );
    const there = new Set(drawn.map((arm) => arm.arm));
    for (const [name, panel] of this.#panels) {
      if (there.has(name)) continue;
      panel.remove();
      this.#panels.delete(name);
    }
  }

  remove() {
    for (const panel of this.#panels.values()) panel.remove();
  }
}

function legend(experiment, common) {
  const learnt = experiment.arms.some((arm) => arm.curve?.length);
  const whom = experiment.audience ? " to one key" : "";
  let text = learnt
    ? `Line and band: what the n-th showing${whom} is worth, as learnt. Dots: what was seen. `
    : `Dots and bars: the mean reward of the n-th showing${whom}, as seen, and its interval. `;
  if (experiment.arms.some((arm) => arm.cap)) text += "Upright dashed line: the learnt cap. ";
  text += "Dotted line: the mean of the arm's rewards. Across: the number of the showing. All charts have the same axes.";
  return common.log ? `${text} Showings are drawn by their logarithm.` : text;
}

class Panel {
  #arm = null;
  #common = null;

  constructor() {
    this.name = label("");
    this.state = el("span", { class: "tag" });
    this.figure = new Figure("small");
    this.node = el("section", { class: "panel" }, el("h3", {}, this.name, this.state), this.figure.node);
  }

  update(arm, common, audience) {
    this.#arm = arm;
    this.#common = common;
    setLabel(this.name, arm.arm);
    show(this.state, !arm.open);
    setText(this.state, "retired");
    setClass(this.node, arm.open ? "panel" : "panel retired");
    const curve = arm.curve ?? [];
    const cells = (arm.cells ?? []).filter((cell) => cell.mean !== null);
    if (!curve.length && !cells.length) {
      this.figure.empty(arm.pulls ? "No rewards seen yet." : "Not shown yet.");
      return;
    }
    this.figure.say(sentence(arm, curve, cells, audience), heads(curve), () => rows(curve, cells));
    const x = curve.length ? curve.map((at) => at.n) : cells.map(middle);
    const take = (name) => (curve.length ? curve.map((at) => at[name]) : x.map(() => null));
    const more = [cells, arm.cap, common];
    this.figure.plot.draw(`curve ${common.log}`, () => this.#options(), [x, take("high"), take("low"), take("mean")], more);
  }

  #options() {
    const hidden = { stroke: "transparent", width: 0, points: { show: false } };
    return {
      padding: [8, 8, 0, 0],
      series: [{}, hidden, hidden, { stroke: () => colour("--policy"), width: 2.5, points: { show: false } }],
      bands: [{ series: [1, 2], fill: () => colour("--band") }],
      axes: [
        axis({ size: 30, space: 30, ...showings(this.#common), values: (_, splits) => splits.map(brief) }),
        axis({ size: 50, space: 28, values: (_, splits) => rateTicks(splits) }),
      ],
      scales: {
        x: { time: false, distr: this.#common.log ? 3 : 1, range: () => this.#common.x },
        y: { range: () => this.#common.y },
      },
      hooks: {
        drawAxes: [(chart) => behind(chart, this.#arm, this.#common)],
        draw: [(chart) => seen(chart, this.#arm)],
        setCursor: [(chart) => this.#read(chart)],
      },
    };
  }

  #read(chart) {
    const place = chart.cursor.idx;
    let text = "";
    if (place !== null && place !== undefined && chart.cursor.left >= 0) {
      const curve = this.#arm.curve ?? [];
      const cells = (this.#arm.cells ?? []).filter((cell) => cell.mean !== null);
      if (curve[place]) text = `showing ${curve[place].n}: ${rate(curve[place].mean)}`;
      else if (cells[place]) text = `showing ${which(cells[place])}: ${rate(cells[place].mean)}`;
    }
    this.figure.readout.textContent = text;
  }

  remove() {
    this.figure.remove();
  }
}

const middle = (cell) => (cell.from + cell.to) / 2;
const which = (cell) => (cell.from === cell.to ? `${cell.from}` : `${cell.from} to ${cell.to}`);
const brief = (n) => (n < 1 ? "" : n >= 1000 ? `${rate(n / 1000)}k`.replace(/\.0+k/, "k") : String(Math.round(n)));

function sentence(arm, curve, cells, audience) {
  if (arm.cap?.sentence) return arm.cap.sentence;
  if (curve.length > 1) {
    const [first, last] = [curve[0], curve.at(-1)];
    return `No cap: from ${rate(first.mean)} at the first showing to ${rate(last.mean)} at number ${count(last.n)}.`;
  }
  if (curve.length) return `The first showing is worth ${rate(curve[0].mean)}.`;
  const [first, last] = [cells[0], cells.at(-1)];
  const seenSo = `${rate(first.mean)} in ${several(first.n, "reward")}`;
  if (cells.length === 1) return `Seen: ${seenSo}.`;
  const end = `${rate(last.mean)} at showing ${which(last)}`;
  return audience ? `Seen: ${seenSo} at first, ${end}.` : `Seen: ${rate(first.mean)} at showing ${which(first)}, ${end}.`;
}

const LEARNT = ["Learnt", "from", "to"];
const SEEN = ["Seen", "from", "to", "Rewards"];

/** The table: what was learnt of each showing, what was seen, or both side by side. */
function heads(curve) {
  return curve.length ? ["Showing", ...LEARNT, "Seen at", ...SEEN] : ["Showing", ...SEEN];
}

function rows(curve, cells) {
  const what = (cell) => [...[cell?.mean, cell?.low, cell?.high].map(rate), count(cell?.n)];
  if (!curve.length) return cells.map((cell) => [which(cell), ...what(cell)]);
  const learnt = new Map(curve.map((at) => [at.n, at]));
  const seenFrom = new Map(cells.map((cell) => [cell.from, cell]));
  const numbers = [...new Set([...learnt.keys(), ...seenFrom.keys()])].sort((a, b) => a - b);
  return numbers.map((n) => {
    const at = learnt.get(n);
    const cell = seenFrom.get(n);
    const own = [at?.mean, at?.low, at?.high].map(rate);
    return [String(n), ...own, cell ? which(cell) : UNKNOWN, ...what(cell)];
  });
}

/** The axes all panels share; wide intervals of a few rewards do not set them. */
function axes(arms) {
  const means = [];
  const edges = [];
  let most = 1;
  for (const arm of arms) {
    for (const at of arm.curve ?? []) {
      if (at.mean !== null) means.push(at.mean);
      edges.push(at.low, at.high);
      most = Math.max(most, at.n);
    }
    for (const cell of arm.cells ?? []) {
      if (cell.mean !== null && (cell.n >= 5 || !arm.curve?.length)) means.push(cell.mean);
      if (!arm.curve?.length) edges.push(cell.low, cell.high);
      most = Math.max(most, cell.to);
    }
  }
  if (!means.length) return { x: [0.5, 2.5], y: [0, 1], log: false, any: false };
  const lowest = Math.min(...means);
  const highest = Math.max(...means);
  const reach = 0.6 * (highest - lowest) || 0.5 * Math.abs(highest) || 1;
  const known = edges.filter((edge) => typeof edge === "number");
  let low = Math.max(lowest - reach, Math.min(lowest, ...known));
  let high = Math.min(highest + reach, Math.max(highest, ...known));
  if (lowest >= 0 && low < 0.6 * high) low = 0;
  // Whole steps, so that the axis does not tremble with every answer.
  const unit = 10 ** Math.floor(Math.log10(high - low || 1)) / 4;
  low = Math.floor(low / unit) * unit;
  high = Math.ceil((high + 0.02 * (high - low)) / unit) * unit;
  const log = most > 60;
  return { x: log ? [0.8, most * 1.15] : [0.5, Math.max(2, most) + 0.5], y: [low, high], log, any: true };
}

/** Where the axis of showings has its marks: whole numbers, or powers of ten. */
function showings(common) {
  if (!common.log) return { incrs: [1, 2, 5, 10, 20, 50] };
  const found = [];
  for (let n = 1; n <= common.x[1]; n *= 10) found.push(n);
  return { splits: () => found, filter: (_, splits) => splits };
}

/** Lines behind the curve: the learnt cap, and the mean of all the arm's rewards. */
function behind(chart, arm, common) {
  const ratio = window.uPlot.pxRatio;
  const { left, top, width, height } = chart.bbox;
  const { ctx } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  if (arm.mean !== null) {
    const y = chart.valToPos(arm.mean, "y", true);
    line(ctx, [left, y, left + width, y], colour("--muted"), ratio, [1.5 * ratio, 3 * ratio]);
  }
  if (arm.cap && arm.cap.showings + 0.5 <= common.x[1]) {
    const x = chart.valToPos(Math.max(common.x[0], arm.cap.showings + 0.5), "x", true);
    line(ctx, [x, top, x, top + height], colour("--cap"), 2 * ratio, [6 * ratio, 4 * ratio]);
  }
  ctx.restore();
}

function line(ctx, [x0, y0, x1, y1], stroke, width, dash = []) {
  ctx.beginPath();
  ctx.setLineDash(dash);
  ctx.strokeStyle = stroke;
  ctx.lineWidth = width;
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** What was seen: a dot a cell, with its interval where no curve says how sure one can be. */
function seen(chart, arm) {
  const ratio = window.uPlot.pxRatio;
  const { left, top, width, height } = chart.bbox;
  const { ctx } = chart;
  const bars = !arm.curve?.length;
  const ink = colour(bars ? "--policy" : "--text");
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const cell of arm.cells ?? []) {
    if (cell.mean === null) continue;
    const x = chart.valToPos(middle(cell), "x", true);
    const y = chart.valToPos(cell.mean, "y", true);
    if (bars && cell.low !== null && cell.high !== null) {
      const low = chart.valToPos(cell.low, "y", true);
      const high = chart.valToPos(cell.high, "y", true);
      line(ctx, [x, low, x, high], ink, 1.5 * ratio);
      for (const end of [low, high]) line(ctx, [x - 3 * ratio, end, x + 3 * ratio, end], ink, 1.5 * ratio);
    }
    ctx.beginPath();
    ctx.setLineDash([]);
    ctx.arc(x, y, (bars ? 3.5 : 2.5) * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = bars ? ink : colour("--surface");
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1.25 * ratio;
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}
