// The list of experiments.

import { get } from "./api.js";
import { each, el, setClass, setText, show } from "./dom.js";
import { count, health, isMistake, policyName, rate, several } from "./words.js";

export function link(name) {
  return `#/experiments/${encodeURIComponent(name)}`;
}

export class ListView {
  title = "Experiments";

  constructor() {
    this.cards = el("ul", { class: "cards" });
    this.curl = el("code");
    this.none = el(
      "section",
      { class: "nothing", "aria-labelledby": "none-title", hidden: true },
      el("h2", { id: "none-title" }, "No experiments yet"),
      el(
        "p",
        {},
        "This command creates one with two arms, a fatigue curve for each, and a control group of 10 %:",
      ),
      el("pre", {}, this.curl),
      el("p", { class: "quiet" }, "It then appears here."),
    );
    this.node = el("div", {}, this.cards, this.none);
  }

  load(signal) {
    return get("v1/experiments", signal);
  }

  update({ experiments }, status) {
    show(this.none, experiments.length === 0);
    show(this.cards, experiments.length > 0);
    setText(this.curl, curlLine(status));
    each(this.cards, experiments, (one) => one.name, makeCard, fillCard);
  }

  remove() {}
}

function curlLine(status) {
  const body = { name: "banner", arms: ["A", "B"], audience: true, control: 0.1 };
  const key = status?.keys_required ? "-H 'Authorization: Bearer KEY' " : "";
  const place = new URL("v1/experiments", window.location.href).href;
  return `curl ${place} ${key}-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

const FACTS = ["Decisions", "Arms", "Outstanding", "Late"];

function makeCard(one) {
  const name = el("a", { href: link(one.name) }, one.name);
  const dot = el(
    "p",
    { class: "health" },
    el("span", { class: "dot", "aria-hidden": "true" }),
    el("span"),
  );
  const big = el(
    "p",
    { class: "big" },
    el("span", { class: "value" }),
    " ",
    el("span", { class: "quiet" }),
  );
  const facts = el(
    "dl",
    { class: "facts" },
    ...FACTS.map((text) => el("div", {}, el("dt", {}, text), el("dd"))),
  );
  const policy = el("p", { class: "quiet" });
  return el(
    "li",
    { class: "card" },
    el("h2", {}, name),
    dot,
    big,
    facts,
    policy,
    el("p", { class: "said" }),
  );
}

function fillCard(card, one) {
  const [, dot, big, facts, policy, said] = card.children;
  const [kind, words] = health(one);
  setClass(dot.firstChild, `dot ${kind}`);
  setText(dot.lastChild, words);
  setText(big.firstChild, rate(one.mean));
  setText(
    big.lastChild,
    one.observed ? `mean of ${several(one.observed, "reward")}` : "no rewards yet",
  );
  const values = [one.decisions, one.arms, one.outstanding, one.late];
  values.forEach((value, place) => setText(facts.children[place].lastChild, count(value)));
  setText(policy, `Policy ${policyName(one.policy)}`);
  const error = one.last_error;
  show(said, Boolean(error));
  setClass(said, isMistake(error) ? "said refused" : "said");
  setText(said, error ? String(error.message ?? error) : "");
}
