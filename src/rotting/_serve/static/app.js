// The page: which view is open, how the service is, and the key.

import { Away, Refused, get, key } from "./api.js";
import { setClass, setText, show } from "./dom.js";
import { ExperimentView } from "./experiment.js";
import { KeyForm } from "./keys.js";
import { ListView } from "./list.js";
import { EVERY, Poller } from "./poll.js";
import { clock, moment } from "./words.js";

const at = (id) => document.getElementById(id);
let view = null;
let answered = null; // when the service last answered well, in seconds

function tell(kind, words) {
  setClass(at("beat"), `beat ${kind}`);
  setText(at("status"), words);
  // A button that goes takes the focus with it: the heading gets it.
  if (kind !== "away" && document.activeElement === at("try-now")) at("title").focus();
  show(at("try-now"), kind === "away");
}

/** What a failure means, as a kind and in words. */
function explain(error) {
  const since = answered === null ? "yet" : `since ${clock(answered)}`;
  if (error instanceof Away) return ["away", `No answer ${since}; still trying.`];
  if (!(error instanceof Refused))
    return ["away", `The answer could not be read: ${error.message}. Still trying.`];
  switch (error.status) {
    case 401:
      return ["asked", "The service asks for an API key."];
    case 403:
      return ["asked", "This key may not read experiments; one with the role read or admin may."];
    case 404:
      return ["asked", `There is no experiment called ${view.name ?? "that"}.`];
    case 410:
      return ["asked", `This experiment is archived. ${error.message}`];
    case 429:
      return ["away", "The service was asked too often; this page waits a little."];
    default:
      return [
        "away",
        `The service cannot answer now: ${error.message || error.code} Still trying (no figures ${since}).`,
      ];
  }
}

const form = new KeyForm(
  () => poller.now(),
  () => {
    // Who forgets the key wants nothing left to see.
    open();
    at("title").focus();
  },
);

const poller = new Poller(
  async (signal) => {
    const asked = view;
    const [status, page] = await Promise.allSettled([get("v1/status", signal), asked.load(signal)]);
    if (signal.aborted || asked !== view) return;
    if (page.status === "rejected") throw page.reason;
    const known = status.status === "fulfilled" ? status.value : null;
    asked.update(page.value, known);
    answered = Date.now() / 1000;
    form.done();
    if (known)
      setText(at("foot"), `rotting ${known.version}, running since ${moment(known.started)}`);
    if (known && !known.ready)
      tell("away", `The service is not ready: ${known.reason ?? "no reason given"}.`);
    else tell("live", `Live, asked every ${EVERY} seconds.`);
    setText(at("clock"), `Last answer ${clock(answered)}`);
  },
  {
    well() {},
    paused() {
      tell("paused", "Paused while this tab is hidden.");
    },
    failed(error) {
      const [kind, words] = explain(error);
      tell(kind, words);
      if (error.status === 404 || error.status === 410) view.missing?.(words);
      if (error.status === 401) {
        form.ask(
          key.get()
            ? "The service does not know this key. Another one?"
            : "This service asks for an API key.",
        );
      } else if (error.status === 403) {
        form.ask(`The service says: ${error.message || "forbidden"}. Another key?`);
      }
      form.buttons();
    },
  },
);

/** Opens what the address asks for, anew. */
function open() {
  const found = /^#\/experiments\/([^/]+)$/.exec(window.location.hash);
  let name = null;
  try {
    name = found && decodeURIComponent(found[1]);
  } catch {
    // not an address of ours: the list is shown
  }
  view?.remove();
  view = name ? new ExperimentView(name) : new ListView();
  at("view").replaceChildren(view.node);
  setText(at("title"), view.title);
  document.title = name ? `${name} · rotting serve` : "rotting serve";
  poller.now();
}

window.addEventListener("hashchange", () => {
  open();
  window.scrollTo(0, 0);
  at("title").focus({ preventScroll: true });
});
at("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is the route
  at("main").focus();
});
at("try-now").addEventListener("click", () => poller.now());
form.buttons();
open();
