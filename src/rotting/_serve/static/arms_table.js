// The table of the arms.

import { each, el, label, setClass, setLabel, setText } from "./dom.js";
import { UNKNOWN, count, percent, rate } from "./words.js";

const HEADS = [
  "Arm",
  "Share",
  "Mean",
  "Estimate",
  "Cap",
  "State",
  "Estimate, interval",
  "Recent share",
  "Showings",
  "Rewards",
];

export class ArmsTable {
  constructor() {
    const head = el("tr", {}, ...HEADS.map((text) => el("th", { scope: "col" }, text)));
    this.body = el("tbody");
    const caption = el("caption", { class: "unseen" }, "The arms of the experiment");
    const table = el("table", { class: "arms" }, caption, el("thead", {}, head), this.body);
    this.node = el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of the arms" },
      table,
    );
  }

  update(arms) {
    each(this.body, arms, (arm) => arm.arm, makeRow, fillRow);
  }
}

function makeRow() {
  const share = el(
    "td",
    { class: "share" },
    el("span", { class: "bar", "aria-hidden": "true" }),
    el("span"),
  );
  const cells = Array.from({ length: 8 }, () => el("td"));
  return el("tr", {}, el("th", { scope: "row" }, label("")), share, ...cells);
}

function fillRow(row, arm) {
  const [name, share, mean, worth, cap, state, interval, lately, pulls, observed] = row.cells;
  setClass(row, arm.open ? "" : "retired");
  setLabel(name.firstChild, arm.arm);
  setText(state, arm.open ? "open" : "retired");
  const width = `${Math.round(100 * (arm.share ?? 0))}%`;
  if (share.firstChild.style.width !== width) share.firstChild.style.width = width;
  setText(share.lastChild, percent(arm.share));
  setText(lately, percent(arm.recent_share));
  setText(pulls, count(arm.pulls));
  setText(observed, count(arm.observed));
  setText(mean, rate(arm.mean));
  setText(worth, rate(arm.estimate));
  const sure = arm.low !== null && arm.high !== null;
  setText(interval, sure ? `${rate(arm.low)} to ${rate(arm.high)}` : UNKNOWN);
  setText(cap, arm.cap ? count(arm.cap.showings) : "none");
}
