// Small helpers for the page. All that comes from the service is text, never markup: no code of the
// page sets innerHTML.

/** An element with attributes and children; strings become text nodes. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Sets the text only where it differs, which keeps selections and does not disturb screen readers. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setClass(node, name) {
  if (node.className !== name) node.className = name;
}

export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

/** A user's label, with its own direction of writing, which does not affect the text around it. */
export function label(text, tag = "bdi") {
  return el(tag, { class: "label", dir: "auto", title: text }, text);
}

export function setLabel(node, text) {
  setText(node, text);
  if (node.title !== text) node.title = text;
}

const kept = new WeakMap();

/**
 * Makes one child of `parent` for each of `items` and reuses existing ones: `make(item)` gives a
 * node, `update(node, item)` brings it up to date. Nodes move only if their order changed, which
 * keeps the focus.
 */
export function each(parent, items, keyOf, make, update) {
  const before = kept.get(parent) ?? new Map();
  const after = new Map();
  let place = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    const node = before.get(key) ?? make(item);
    before.delete(key);
    after.set(key, node);
    update(node, item);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of before.values()) node.remove();
  kept.set(parent, after);
}

/** Fills a table's head and body cell by cell; the first text of each of `rows` is a heading. */
export function fillTable(table, heads, rows) {
  const head = table.tHead ?? table.createTHead();
  const body = table.tBodies[0] ?? table.createTBody();
  if (!head.rows.length) head.insertRow();
  fillRow(head.rows[0], heads, () => el("th", { scope: "col" }));
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((texts, index) => {
    const row = body.rows[index] ?? body.insertRow();
    fillRow(row, texts, (place) => (place ? el("td") : el("th", { scope: "row" })));
  });
}

function fillRow(row, texts, make) {
  while (row.cells.length > texts.length) row.deleteCell(-1);
  texts.forEach((text, place) => {
    const cell = row.cells[place] ?? row.appendChild(make(place));
    setText(cell, text);
  });
}
