// The share of the decisions by arm over time: stacked areas with their names beside them.

import { biggest, points, step, total, usable } from "./bins.js";
import { Figure, axis, colour, gutter, timeAxis, writeEnds } from "./plots.js";
import { UNKNOWN, clock, moment, percent, span } from "./words.js";

const AREAS = 8; // more could not be distinguished

export class SharesChart {
  #now = null;
  #slots = new Map();

  constructor() {
    this.figure = new Figure("wide");
    this.node = this.figure.node;
  }

  update(experiment) {
    const drawn = prepare(experiment, this.figure.pixels());
    this.#now = drawn;
    if (!drawn.points.length) {
      this.figure.empty(drawn.why);
      return;
    }
    this.#assign(drawn.names);
    this.figure.say(sentence(drawn), ["From", ...drawn.names], () =>
      drawn.points.map((point, place) => [
        moment(point.from),
        ...drawn.parts.map((part) => percent(part[place], 1)),
      ]),
    );
    // The top of every area, the highest first, since each is painted over by the next.
    const edges = [...drawn.points.map((point) => point.from), drawn.points.at(-1).to];
    const tops = [];
    let below = edges.map(() => 0);
    for (const part of drawn.parts) {
      const held = [...part, part.at(-1)];
      below = below.map((sum, place) => (held[place] === null ? null : sum + held[place]));
      tops.unshift(below);
    }
    const shape = JSON.stringify(drawn.names);
    this.figure.plot.draw(shape, () => this.#options(drawn.names), [edges, ...tops]);
  }

  /** Gives each arm a colour, which it keeps when others come and go. */
  #assign(names) {
    const others = names.length && this.#now.others ? names.at(-1) : null;
    for (const name of this.#slots.keys()) if (!names.includes(name)) this.#slots.delete(name);
    for (const name of names) {
      if (this.#slots.has(name)) continue;
      const taken = new Set(this.#slots.values());
      let slot = 1;
      while (taken.has(slot)) slot += 1;
      this.#slots.set(name, name === others ? AREAS : slot);
    }
  }

  #colour(name) {
    return colour(`--area-${this.#slots.get(name) ?? AREAS}`);
  }

  #options(names) {
    const stepped = window.uPlot.paths.stepped({ align: 1 });
    const series = [...names].reverse().map((name) => ({
      stroke: () => colour("--surface"),
      fill: () => this.#colour(name),
      width: 1.5,
      paths: stepped,
      points: { show: false },
    }));
    return {
      padding: [10, gutter, 0, 0],
      series: [{}, ...series],
      axes: [
        timeAxis(),
        axis({
          size: 56,
          splits: () => [0, 0.25, 0.5, 0.75, 1],
          values: (_, splits) => splits.map((share) => percent(share)),
        }),
      ],
      scales: { x: { range: (_, low, high) => [low, high] }, y: { range: () => [0, 1] } },
      hooks: {
        draw: [(chart) => this.#label(chart)],
        setCursor: [
          (chart) =>
            this.#read(chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, "x") : null),
        ],
      },
    };
  }

  #label(chart) {
    const { names, parts } = this.#now;
    const place = parts[0].findLastIndex((part) => part !== null);
    let below = 0;
    const ends = names.map((text, index) => {
      const part = parts[index][place];
      below += part;
      return {
        text: `${percent(part)} ${text}`,
        value: below - part / 2,
        colour: this.#colour(text),
        mark: "block",
      };
    });
    writeEnds(chart, this.figure.ends, ends);
  }

  #read(seconds) {
    const drawn = this.#now;
    const place =
      seconds === null ? -1 : drawn.points.findIndex((p) => p.from <= seconds && seconds < p.to);
    if (place < 0) {
      this.figure.readout.textContent = "";
      return;
    }
    const point = drawn.points[place];
    const parts = drawn.names.map(
      (name, index) => `\u2068${short(name)}\u2069 ${percent(drawn.parts[index][place])}`,
    );
    this.figure.readout.textContent = `${clock(point.from)} to ${clock(point.to)}: ${parts.join(", ")}`;
  }

  remove() {
    this.figure.remove();
  }
}

function prepare({ series, now, decisions }, pixels) {
  const shares = series?.shares ?? {};
  const buckets = Math.max(0, ...Object.values(shares).map((list) => list.length));
  const nothing = decisions ? "Nothing to draw yet." : "No decisions yet: nothing to draw.";
  if (!buckets) return { points: [], why: nothing };
  const over = usable(series, buckets, now, 0);
  const all = Array.from({ length: buckets }, (_, place) =>
    Object.values(shares).reduce((sum, list) => sum + (list[place] ?? 0), 0),
  );
  const size = step(over, [[all, 40]], pixels);
  const found = points(series, over, size).filter((point) => total(all, point) > 0 || over > 1);
  if (!found.some((point) => total(all, point))) {
    const some = all.some((n) => n > 0);
    const why = some ? "The areas begin when the first stretch of time is over." : nothing;
    return { points: [], why };
  }
  const { own, rest } = biggest(shares, AREAS);
  const share = (list, point) => {
    const sum = total(all, point);
    return sum ? total(list, point) / sum : null;
  };
  const names = [...own];
  const parts = own.map((name) => found.map((point) => share(shares[name], point)));
  if (rest.length) {
    names.push(`${rest.length} others`);
    parts.push(
      found.map((point) => {
        const each = rest.map((name) => share(shares[name], point));
        return each[0] === null ? null : each.reduce((a, b) => a + b, 0);
      }),
    );
  }
  return { points: found, names, parts, others: rest.length > 0, width: size * series.width };
}

function sentence({ points: found, names, parts, width }) {
  const place = parts[0].findLastIndex((part) => part !== null);
  const last = names.map((name, index) => [name, parts[index][place]]).sort((a, b) => b[1] - a[1]);
  const said = last
    .slice(0, 3)
    .map(([name, part]) => `\u2068${short(name)}\u2069 ${percent(part)}`);
  const more = last.length > 3 ? `, and ${last.length - 3} more` : "";
  const until = place < 0 ? UNKNOWN : clock(found[place].to, false);
  return `Share of the decisions each arm got, by ${span(width)}. Last, until ${until}: ${said.join(", ")}${more}.`;
}

/** A name, cut at 30 letters between graphemes. */
function short(name) {
  const letters = [...new Intl.Segmenter().segment(name)].map((part) => part.segment);
  return letters.length > 30 ? `${letters.slice(0, 29).join("")}\u2026` : name;
}
