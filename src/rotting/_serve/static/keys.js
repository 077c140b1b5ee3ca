// The form for an API key.

import { key } from "./api.js";
import { setText, show } from "./dom.js";

const at = (id) => document.getElementById(id);

export class KeyForm {
  constructor(onUse, onForget) {
    at("key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const secret = at("key-input").value.trim();
      // Anything else cannot travel in a header.
      if (!/^[\x21-\x7e]+$/.test(secret)) {
        setText(at("key-why"), "A key has letters, digits and signs, without spaces in between.");
        return;
      }
      key.set(secret);
      at("key-input").value = "";
      onUse();
    });
    at("forget-key").addEventListener("click", () => {
      key.forget();
      onForget();
    });
  }

  /** Asks for a key, and says why. */
  ask(why) {
    setText(at("key-why"), why);
    const wasHidden = at("key").hidden;
    show(at("key"), true);
    if (wasHidden) at("key-input").focus();
    this.buttons();
  }

  done() {
    const inside = at("key").contains(document.activeElement);
    show(at("key"), false);
    this.buttons();
    if (inside) at("title").focus();
  }

  buttons() {
    show(at("forget-key"), key.get() !== null);
  }
}
