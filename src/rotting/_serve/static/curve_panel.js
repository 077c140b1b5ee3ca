// One arm's curve: the chart, its sentence and its table; and the axes shared by all arms.

import { behind, middle, seen } from "./curve_ink.js";
import { el, label, setClass, setLabel, setText, show } from "./dom.js";
import { Figure, axis, colour, rewardAxis } from "./plots.js";
import { UNKNOWN, count, rate, several } from "./words.js";

export class CurvePanel {
  #arm = null;
  #common = null;

  constructor() {
    this.name = label("");
    this.state = el("span", { class: "tag" });
    this.figure = new Figure("small");
    this.node = el(
      "section",
      { class: "panel" },
      el("h3", {}, this.name, this.state),
      this.figure.node,
    );
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
    this.figure.plot.draw(
      `curve ${common.log}`,
      () => this.#options(),
      [x, take("high"), take("low"), take("mean")],
      more,
    );
  }

  #options() {
    const hidden = { stroke: "transparent", width: 0, points: { show: false } };
    return {
      padding: [8, 8, 0, 0],
      series: [
        {},
        hidden,
        hidden,
        { stroke: () => colour("--policy"), width: 2.5, points: { show: false } },
      ],
      bands: [{ series: [1, 2], fill: () => colour("--band") }],
      axes: [
        axis({
          size: 30,
          space: 30,
          ...showings(this.#common),
          values: (_, splits) => splits.map(brief),
        }),
        rewardAxis({ space: 28 }),
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

const which = (cell) => (cell.from === cell.to ? `${cell.from}` : `${cell.from} to ${cell.to}`);
const brief = (n) =>
  n < 1 ? "" : n >= 1000 ? `${rate(n / 1000)}k`.replace(/\.0+k/, "k") : String(Math.round(n));

function sentence(arm, curve, cells, audience) {
  if (arm.cap?.sentence) return arm.cap.sentence;
  if (curve.length > 1) {
    const [first, last] = [curve[0], curve.at(-1)];
    return `No cap: from ${rate(first.mean)} at the first showing to ${rate(last.mean)} at number ${count(last.n)}.`;
  }
  if (curve.length) return `Mean reward of the first showing: ${rate(curve[0].mean)}.`;
  const [first, last] = [cells[0], cells.at(-1)];
  const seenSo = `${rate(first.mean)} in ${several(first.n, "reward")}`;
  if (cells.length === 1) return `Observed: ${seenSo}.`;
  const end = `${rate(last.mean)} at showing ${which(last)}`;
  return audience
    ? `Observed: ${seenSo} at first, ${end}.`
    : `Observed: ${rate(first.mean)} at showing ${which(first)}, ${end}.`;
}

const LEARNT = ["Learnt", "from", "to"];
const SEEN = ["Observed", "from", "to", "Rewards"];

/** The table: the learnt mean of each showing, the observed one, or both side by side. */
function heads(curve) {
  return curve.length ? ["Showing", ...LEARNT, "Observed at", ...SEEN] : ["Showing", ...SEEN];
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

/** The axes shared by all panels; wide intervals from few rewards do not widen them. */
export function commonAxes(arms) {
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
  // Whole steps, so that the axis does not change with every answer.
  const unit = 10 ** Math.floor(Math.log10(high - low || 1)) / 4;
  low = Math.floor(low / unit) * unit;
  high = Math.ceil((high + 0.02 * (high - low)) / unit) * unit;
  const log = most > 60;
  return {
    x: log ? [0.8, most * 1.15] : [0.5, Math.max(2, most) + 0.5],
    y: [low, high],
    log,
    any: true,
  };
}

/** The ticks of the axis of showings: whole numbers, or powers of ten. */
function showings(common) {
  if (!common.log) return { incrs: [1, 2, 5, 10, 20, 50] };
  const found = [];
  for (let n = 1; n <= common.x[1]; n *= 10) found.push(n);
  return { splits: () => found, filter: (_, splits) => splits };
}
