// One experiment: figures, charts, arms, settings.

import { experimentPath, get } from "./api.js";
import { ArmsTable } from "./arms_table.js";
import { CurvesChart } from "./curves_chart.js";
import { each, el, setClass, setText, show } from "./dom.js";
import { Figures } from "./figures.js";
import { RewardChart } from "./reward_chart.js";
import { SharesChart } from "./shares_chart.js";
import {
  count,
  errorText,
  health,
  isMistake,
  moment,
  percent,
  plainly,
  policyName,
  span,
} from "./words.js";

function section(title, id, ...children) {
  return el("section", { "aria-labelledby": id }, el("h2", { id }, title), ...children);
}

export class ExperimentView {
  #since = { seq: null, at: null };

  constructor(name) {
    this.name = name;
    this.title = name;
    this.health = el(
      "p",
      { class: "health", hidden: true },
      el("span", { class: "dot", "aria-hidden": "true" }),
      el("span"),
    );
    this.error = el("p", { class: "said" });
    this.figures = new Figures();
    this.start = el("pre", {}, el("code"));
    this.reward = new RewardChart();
    this.curves = new CurvesChart();
    this.shares = new SharesChart();
    this.arms = new ArmsTable();
    this.settings = el("dl", { class: "settings" });
    const hint = el("p", {}, "No decisions yet. This command makes the first one:");
    this.beginning = el("div", { class: "nothing" }, hint, this.start);
    this.body = el(
      "div",
      { class: "experiment", hidden: true },
      this.error,
      section("At a glance", "glance", this.figures.node, this.beginning),
      section("Reward over time", "reward", this.reward.node),
      section("Mean reward by showing", "curves", this.curves.node),
      section("Share of the decisions", "shares", this.shares.node),
      section("Arms", "arms", this.arms.node),
      section("Policy and settings", "settings", this.settings),
    );
    const back = el("p", { class: "back" }, el("a", { href: "#/" }, "All experiments"));
    this.lost = el("p", { hidden: true });
    const head = el("div", { class: "head" }, back, this.health);
    this.node = el("div", { class: "one" }, head, this.lost, this.body);
  }

  load(signal) {
    return get(experimentPath(this.name), signal);
  }

  /** There is no such experiment any more; the drawn figures stay. */
  missing(words) {
    setText(this.lost, words);
    show(this.lost, true);
  }

  update(experiment) {
    show(this.lost, false);
    show(this.body, true);
    show(this.health, true);
    const [kind, words] = health(experiment);
    setClass(this.health.firstChild, `dot ${kind}`);
    setText(this.health.lastChild, `${words}; policy ${policyName(experiment.policy)}`);
    const error = experiment.last_error;
    show(this.error, Boolean(error));
    setClass(this.error, isMistake(error) ? "said refused" : "said");
    setText(
      this.error,
      error ? `${isMistake(error) ? "Last refusal" : "Last error"}${error.at ? `, ${moment(error.at)}` : ""}: ${errorText(error)}` : "",
    );
    show(this.beginning, !experiment.decisions);
    setText(this.start.firstChild, this.#curl(experiment));
    this.figures.update(experiment);
    this.reward.update(experiment);
    this.curves.update(experiment);
    this.shares.update(experiment);
    this.arms.update(experiment.arms);
    this.#learnSince(experiment);
    this.#set(experiment);
  }

  #set(experiment) {
    const make = ([name]) => el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }));
    const fill = (node, [, text]) => setText(node.lastChild, text);
    each(this.settings, this.#facts(experiment), ([name]) => name, make, fill);
  }

  #curl(experiment) {
    const place = new URL(`${experimentPath(this.name)}/decisions`, window.location.href).href;
    const body = experiment.audience ? { id: "first", key: "somebody" } : { id: "first" };
    return `curl ${place} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  }

  /** Gets the time of the event `since` from the log, once. */
  async #learnSince(experiment) {
    const seq = experiment.policy?.since;
    if (typeof seq !== "number" || this.#since.seq === seq) return;
    this.#since = { seq, at: null };
    try {
      const page = await get(`${experimentPath(this.name)}/events?after=${seq - 1}&limit=1`);
      const event = page.events?.[0];
      if (event?.seq !== seq || this.#since.seq !== seq) return;
      this.#since.at = event.at;
      this.#set(experiment);
    } catch {
      // only the number is shown
    }
  }

  #facts(experiment) {
    const { policy } = experiment;
    const at = this.#since.at === null ? "" : ` (${moment(this.#since.at)})`;
    const window = experiment.reward_window;
    return [
      ["Policy", `${policyName(policy)}${policy?.compiled === false ? ", not compiled" : ""}`],
      ["Version", plainly(policy?.version)],
      ["In force since", policy ? `event ${count(policy.since)}${at}` : plainly(null)],
      ["Created", moment(experiment.created)],
      ["Last event", count(experiment.seq)],
      [
        "Audience",
        experiment.audience
          ? `yes${typeof experiment.audience === "object" ? `: ${plainly(experiment.audience)}` : ", fatigue of each key"}`
          : "no: all showings count together",
      ],
      [
        "Control group",
        experiment.control ? `${percent(experiment.control)} of the decisions` : "none",
      ],
      ["Reward window", window ? span(window) : "none: rewards may come at any time"],
      ["Default reward", plainly(experiment.default_reward)],
      [
        "Must be shown",
        experiment.require_shown ? `yes, within ${span(experiment.shown_window)}` : "no",
      ],
      ["Fallback", plainly(experiment.fallback)],
      ["Seed", experiment.seed === null ? "none" : String(experiment.seed)],
      [
        "Last error",
        experiment.last_error
          ? `${moment(experiment.last_error.at)}: ${errorText(experiment.last_error)}`
          : "none",
      ],
    ];
  }

  remove() {
    for (const part of [this.reward, this.curves, this.shares]) part.remove();
  }
}
