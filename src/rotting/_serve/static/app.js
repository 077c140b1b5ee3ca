// The page: the open view, the state of the service, and the API key.

import { Away, Refused, get, key } from "./api.js";
import { setClass, setText, show } from "./dom.js";
import { ExperimentView } from "./experiment.js";
import { KeyForm } from "./keys.js";
import { ListView } from "./list.js";
import { EVERY, Poller } from "./poll.js";
import { clock, moment } from "./words.js";

const at = (id) => document.getElementById(id);
let view = null;
let answered = null; // time of the last good answer, in seconds

function showStatus(kind, words) {
  setClass(at("beat"), `beat ${kind}`);
  setText(at("status"), words);
  // A button that is hidden loses the focus; give it to the heading.
  if (kind !== "away" && document.activeElement === at("try-now")) at("title").focus();
  show(at("try-now"), kind === "away");
}

/** A failure as a kind and a sentence. */
function explain(error) {
  const since = answered === null ? "yet" : `since ${clock(answered)}`;
  if (error instanceof Away) return ["away", `No answer ${since}; still trying.`];
  if (!(error instanceof Refused))
    return ["away", `The answer could not be read: ${error.message}. Still trying.`];
  switch (error.status) {
    case 401:
      return ["asked", "The service requires an API key."];
    case 403:
      return ["asked", "This key may not read experiments; it needs the role read or admin."];
    case 404:
      return ["asked", `There is no experiment called ${view.name ?? "that"}.`];
    case 410:
      return ["asked", `This experiment is archived. ${error.message}`];
    case 429:
      return ["away", "Too many requests; this page waits a little."];
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
    // After the key is forgotten, no figures may stay on the page.
    open();
    at("title").focus();
  },
);

const poller = new Poller(
  async (signal) => {
    const wanted = view;
    const [status, page] = await Promise.allSettled([get("v1/status", signal), wanted.load(signal)]);
    if (signal.aborted || wanted !== view) return;
    if (page.status === "rejected") throw page.reason;
    const known = status.status === "fulfilled" ? status.value : null;
    wanted.update(page.value, known);
    answered = Date.now() / 1000;
    form.done();
    if (known)
      setText(at("foot"), `rotting ${known.version}, running since ${moment(known.started)}`);
    if (known && !known.ready)
      showStatus("away", `The service is not ready: ${known.reason ?? "no reason given"}.`);
    else showStatus("live", `Live, updated every ${EVERY} seconds.`);
    setText(at("clock"), `Last answer ${clock(answered)}`);
  },
  {
    well() {},
    paused() {
      showStatus("paused", "Paused while this tab is hidden.");
    },
    failed(error) {
      const [kind, words] = explain(error);
      showStatus(kind, words);
      if (error.status === 404 || error.status === 410) view.missing?.(words);
      if (error.status === 401) {
        form.ask(
          key.get()
            ? "This key is not valid. Use another one."
            : "This service requires an API key.",
        );
      } else if (error.status === 403) {
        form.ask(`The service refused this key: ${error.message || "forbidden"}. Use another one.`);
      }
      form.buttons();
    },
  },
);

/** Opens the view of the address. */
function open() {
  const found = /^#\/experiments\/([^/]+)$/.exec(window.location.hash);
  let name = null;
  try {
    name = found && decodeURIComponent(found[1]);
  } catch {
    // a malformed address shows the list
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
  event.preventDefault(); // a changed address would change the view
  at("main").focus();
});
at("try-now").addEventListener("click", () => poller.now());
form.buttons();
open();
