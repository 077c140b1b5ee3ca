// The mean reward over time, of the policy and of the control group if there is one.

import { means, points, step, usable } from "./bins.js";
import { Figure, colour, gutter, rewardAxis, timeAxis, writeEnds } from "./plots.js";
import { clock, count, moment, rate, several, span } from "./words.js";

const PIXELS = () => window.uPlot.pxRatio;

export class RewardChart {
  #now = null;

  constructor() {
    this.figure = new Figure("wide");
    this.node = this.figure.node;
  }

  update(experiment) {
    const drawn = prepare(experiment, this.figure.pixels());
    this.#now = drawn;
    if (!drawn.points.length) {
      this.figure.empty(drawn.why);
      return;
    }
    const middles = drawn.points.map((point) => (point.from + point.to) / 2);
    const data = [middles, drawn.policy.map((at) => at.mean)];
    if (drawn.control) data.push(drawn.control.map((at) => at.mean));
    const heads = ["From", "Policy", "Rewards"];
    if (drawn.control) heads.push("Control group", "Its rewards");
    this.figure.say(sentence(drawn), heads, () =>
      drawn.points.map((point, place) => {
        const row = [
          moment(point.from),
          rate(drawn.policy[place].mean),
          count(drawn.policy[place].n),
        ];
        if (drawn.control) row.push(rate(drawn.control[place].mean), count(drawn.control[place].n));
        return row;
      }),
    );
    this.figure.plot.draw(`reward ${data.length}`, () => this.#options(data.length > 2), data);
  }

  #options(withControl) {
    const series = [
      {},
      { stroke: () => colour("--policy"), width: 2.5, spanGaps: true, points: { show: false } },
    ];
    if (withControl) {
      series.push({
        stroke: () => colour("--control"),
        width: 2,
        dash: [7, 5],
        spanGaps: true,
        points: { show: false },
      });
    }
    return {
      padding: [10, gutter, 0, 0],
      series,
      axes: [timeAxis(), rewardAxis()],
      scales: { x: { range: wide }, y: { range: padded } },
      hooks: {
        drawSeries: [markers],
        draw: [(chart) => this.#label(chart)],
        setCursor: [(chart) => this.#read(chart.cursor.idx)],
      },
    };
  }

  #label(chart) {
    const names = ["policy", "control group"];
    const marks = ["line dot", "dashed square"];
    const ends = [];
    for (let place = 1; place < chart.series.length; place += 1) {
      const value = chart.data[place].findLast((mean) => mean !== null);
      if (value === undefined) continue;
      const name = ["--policy", "--control"][place - 1];
      ends.push({ text: names[place - 1], value, colour: colour(name), mark: marks[place - 1] });
    }
    writeEnds(chart, this.figure.ends, ends);
  }

  #read(place) {
    const drawn = this.#now;
    const point = place === null || place === undefined ? null : drawn?.points[place];
    if (!point) {
      this.figure.readout.textContent = "";
      return;
    }
    let text = `${clock(point.from)} to ${clock(point.to)}: policy ${rate(drawn.policy[place].mean)}`;
    if (drawn.control) text += `, control group ${rate(drawn.control[place].mean)}`;
    this.figure.readout.textContent = text;
  }

  remove() {
    this.figure.remove();
  }
}

/** The points of the chart, or why there are none. */
function prepare(experiment, pixels) {
  const { series, now } = experiment;
  if (!series?.policy?.length)
    return {
      points: [],
      why: experiment.decisions ? "Nothing to draw yet." : "No decisions yet: nothing to draw.",
    };
  const buckets = series.policy.length;
  // With a default reward, the first rewards to arrive are not representative of all.
  const waits = experiment.default_reward !== null && experiment.reward_window;
  const settle = waits ? experiment.reward_window : 0;
  const over = usable(series, buckets, now, settle);
  const policyCounts = series.policy.map(([n]) => n);
  const controlCounts = (series.control ?? []).map(([n]) => n);
  const compared = controlCounts.some((n) => n > 0);
  const groups = [[policyCounts, 100], ...(compared ? [[controlCounts, 60]] : [])];
  const size = step(over, groups, pixels);
  const found = points(series, over, size);
  const policy = means(series.policy, found);
  const control = compared ? means(series.control, found) : null;
  if (!policy.some((at) => at.n) && !control?.some((at) => at.n)) {
    let why = "No rewards yet: nothing to draw.";
    if (experiment.observed > 0) {
      const wait = settle
        ? `the first reward window, ${span(settle)}, is`
        : "the first stretch of time is";
      why = `The line begins when ${wait} over.`;
    }
    return { points: [], why };
  }
  return { points: found, policy, control, width: size * series.width, settle };
}

function sentence({ points: found, policy, control, width, settle }) {
  const last = (list) => list.findLast((at) => at.n);
  const each = (list) => {
    const sorted = list.map((at) => at.n).sort((a, b) => a - b);
    return several(sorted[Math.floor(sorted.length / 2)], "reward");
  };
  let text = `Mean reward, each point ${span(width)} of decisions (typically ${each(policy)}`;
  text += control ? ` of the policy and ${each(control)} of the control group). ` : "). ";
  text += `Last, until ${clock(found.at(-1).to, false)}: policy ${rate(last(policy)?.mean)}`;
  text += control ? `, control group ${rate(last(control)?.mean)}. ` : ". ";
  text += settle
    ? `The newest ${span(settle)} are left out: their rewards are not all in.`
    : "The newest stretch is left out: it is not over yet.";
  return text;
}

/** Dots on the policy's line, squares on the control group's, distinct without colour. */
function markers(chart, place) {
  if (place === 0 || chart.data[0].length > chart.over.offsetWidth / 10) return;
  const { ctx } = chart;
  const half = 3 * PIXELS();
  ctx.save();
  ctx.setLineDash([]);
  ctx.fillStyle = place === 1 ? colour("--policy") : colour("--surface");
  ctx.strokeStyle = colour(place === 1 ? "--policy" : "--control");
  ctx.lineWidth = 1.5 * PIXELS();
  chart.data[0].forEach((seconds, index) => {
    const value = chart.data[place][index];
    if (value === null) return;
    const x = chart.valToPos(seconds, "x", true);
    const y = chart.valToPos(value, "y", true);
    ctx.beginPath();
    if (place === 1) ctx.arc(x, y, half * 0.9, 0, 2 * Math.PI);
    else ctx.rect(x - half, y - half, 2 * half, 2 * half);
    ctx.fill();
    ctx.stroke();
  });
  ctx.restore();
}

/** The range of the axis, from zero unless that flattens the line. */
function padded(_, low, high) {
  if (low === null) return [0, 1];
  const gap = high - low || Math.abs(high) || 1;
  const bottom = low >= 0 && low < 0.7 * high ? 0 : low - 0.15 * gap;
  return [bottom, high + 0.12 * (high - Math.min(bottom, low) || gap)];
}

/** The range of time; a single point is in the middle. */
function wide(_, low, high) {
  return low === high ? [low - 60, high + 60] : [low, high];
}
