// The mean reward by showing: one small chart for each arm, all with the same axes.

import { CurvePanel, commonAxes } from "./curve_panel.js";
import { each, el, setText, show } from "./dom.js";
import { count } from "./words.js";

const FIRST = 12; // arms drawn at first

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
    // Open arms first; otherwise in the order of their numbers.
    const order = [...arms.filter((arm) => arm.open), ...arms.filter((arm) => !arm.open)];
    const drawn = this.#all ? order : order.slice(0, FIRST);
    const common = commonAxes(order);
    show(this.legend, common.any);
    setText(this.legend, legend(experiment, common));
    show(this.more, order.length > FIRST);
    setText(
      this.more,
      this.#all ? `Draw the first ${FIRST} only` : `Draw all ${count(order.length)} arms`,
    );
    this.more.setAttribute("aria-expanded", String(this.#all));
    each(
      this.grid,
      drawn,
      (arm) => arm.arm,
      (arm) => {
        const panel = new CurvePanel();
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
    ? `Line and band: the learnt mean reward of the n-th showing${whom}. Dots: observed means. `
    : `Dots and bars: the observed mean reward of the n-th showing${whom}, with its interval. `;
  if (experiment.arms.some((arm) => arm.cap)) text += "Vertical dashed line: the learnt cap. ";
  text +=
    "Dotted line: the mean of the arm's rewards. Horizontal axis: the number of the showing. All charts have the same axes.";
  return common.log ? `${text} The axis of showings is logarithmic.` : text;
}
