// The headline figures of an experiment, in numbers and in words.

import { el, setClass, setText, show } from "./dom.js";
import { UNKNOWN, between, count, percent, rate, several, signed } from "./words.js";

export class Figures {
  #tiles = new Map();

  constructor() {
    this.first = el("dl", { class: "tiles" });
    this.others = el("dl", { class: "tiles" });
    this.node = el("div", { class: "glance" }, this.first, this.others);
    this.interval = new Interval();
  }

  update(experiment) {
    const { lift } = experiment;
    this.#tile("Decisions", count(experiment.decisions), pulls(experiment));
    const unknown = experiment.observed ? "" : "No rewards yet.";
    this.#tile(
      "Reward rate",
      rate(experiment.mean),
      unknown || `The mean of ${several(experiment.observed, "reward")}, defaults included.`,
    );
    const wide = this.#tile(
      "Lift over the control group",
      lift ? signed(lift.lift) : UNKNOWN,
      liftWords(experiment),
    );
    setClass(wide, "tile wide");
    if (this.interval.node.parentNode !== wide)
      wide.insertBefore(this.interval.node, wide.lastChild);
    this.interval.update(lift);
    this.#tile("Outstanding", count(experiment.outstanding), "Rewards that may still come.");
    const window = experiment.reward_window;
    this.#tile(
      "Late",
      count(experiment.late),
      window ? "Came after their window: not learnt." : "No window: none can be late.",
    );
    const silence = experiment.default_reward;
    const taken =
      typeof silence === "number"
        ? `Windows that ended without a reward: counted as ${rate(silence)}.`
        : "Windows that ended without a reward.";
    this.#tile(
      "Missing",
      count(experiment.missing),
      window ? taken : "No window: all may still come.",
    );
    show(
      this.#tile("Not shown", count(experiment.unshown), "Decided, but not shown in time."),
      Boolean(experiment.require_shown),
    );
    show(
      this.#tile(
        "Keys",
        count(experiment.keys),
        "People, places or things that were shown something.",
      ),
      Boolean(experiment.audience),
    );
  }

  #tile(name, value, note) {
    let tile = this.#tiles.get(name);
    if (!tile) {
      tile = el(
        "div",
        { class: "tile" },
        el("dt", {}, name),
        el("dd", { class: "value" }),
        el("dd", { class: "note" }),
      );
      this.#tiles.set(name, tile);
      const main = ["Decisions", "Reward rate", "Lift over the control group"].includes(name);
      (main ? this.first : this.others).append(tile);
    }
    setText(tile.children[1], value);
    setText(tile.lastChild, note);
    return tile;
  }
}

function pulls(experiment) {
  const open = experiment.arms.filter((arm) => arm.open).length;
  const among = `Among ${several(open, "open arm")}`;
  if (!experiment.decisions) return `None yet. ${among}.`;
  const { pulls: made } = experiment;
  return made === experiment.decisions ? `${among}.` : `${several(made, "showing")}. ${among}.`;
}

function liftWords({ lift, control, default_reward: silence }) {
  if (!lift && !control) return "No control group: nothing to compare with.";
  if (!lift)
    return `${percent(control)} of the decisions are drawn at random for comparison; there are too few so far.`;
  const means = `${rate(lift.policy)} against ${rate(lift.equal)}. ${between(lift.low, lift.high, lift.level)}`;
  const said = lift.sentence ? String(lift.sentence) : "";
  const sentence = said && said[0].toUpperCase() + said.slice(1);
  const waiting =
    typeof silence === "number" ? ` Decisions that wait count as ${rate(silence)} so far.` : "";
  return `${means} ${sentence}${/[.!?]$/.test(sentence) || !sentence ? "" : "."}${waiting}`;
}

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** The lift and its interval on a line, with zero marked; a picture of the sentence beside it. */
class Interval {
  constructor() {
    this.picture = shape("svg", {
      class: "interval",
      viewBox: "0 0 300 34",
      "aria-hidden": "true",
      preserveAspectRatio: "none",
    });
    this.zero = shape("line", {
      class: "zero",
      y1: 2,
      y2: 24,
      "vector-effect": "non-scaling-stroke",
    });
    this.bar = shape("rect", { class: "range", y: 9, height: 8, rx: 4 });
    this.dot = shape("rect", { class: "point", y: 4, height: 18, width: 4, rx: 2 });
    this.picture.append(this.bar, this.zero, this.dot);
    this.words = el("span", { class: "zero-word", "aria-hidden": "true" }, "0");
    this.node = el("dd", { class: "picture" }, this.picture, this.words);
  }

  update(lift) {
    const known =
      Boolean(lift) && [lift.low, lift.high, lift.lift].every((x) => typeof x === "number");
    show(this.node, known);
    if (!known) return;
    const reach =
      1.15 * Math.max(Math.abs(lift.low), Math.abs(lift.high), Math.abs(lift.lift)) || 1;
    // Zero is always visible, and as much of each side as the interval needs.
    const left = Math.min(lift.low, 0) < 0 ? -reach : -0.15 * reach;
    const right = Math.max(lift.high, 0) > 0 ? reach : 0.15 * reach;
    const x = (value) => (300 * (value - left)) / (right - left);
    this.zero.setAttribute("x1", x(0));
    this.zero.setAttribute("x2", x(0));
    this.bar.setAttribute("x", x(lift.low));
    this.bar.setAttribute("width", Math.max(2, x(lift.high) - x(lift.low)));
    this.dot.setAttribute("x", x(lift.lift) - 2);
    this.words.style.left = `${x(0) / 3}%`;
    const kind = lift.low > 0 ? "better" : lift.high < 0 ? "worse" : "unsure";
    if (this.picture.getAttribute("class") !== `interval ${kind}`)
      this.picture.setAttribute("class", `interval ${kind}`);
  }
}
