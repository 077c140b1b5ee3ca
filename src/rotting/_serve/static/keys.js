// The form for an API key.

import { key } from "./api.js";
import { setText, show } from "./dom.js";

const at = (id) => document.getElementById(id);

export class KeyForm {
  constructor(onUse, onForget) {
    at("key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const secret = at("key-input").value.trim();
      // Other characters are not allowed in a header.
      if (!/^[\x21-\x7e]+$/.test(secret)) {
        setText(at("key-why"), "A key consists of letters, digits and signs, without spaces.");
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

  /** Shows the form, with the reason. */
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
