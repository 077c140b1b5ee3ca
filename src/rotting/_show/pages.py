"""Self-contained web pages: one file, no network, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #f3f5f7;
  --line: #d5dae0; --accent: #0063a6; --good: #0a6b4a; --bad: #a33a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #15181c;
  --soft: #20252b; --line: #3a424b; --accent: #6bb6ee; --good: #5fcf9f; --bad: #ff9a62; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .6rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
a { color: var(--accent); }
.lead { font-size: 1.05rem; }
.note { color: color-mix(in srgb, var(--ink) 72%, var(--paper)); font-size: .92rem; }
.figures { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.figures.small { grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
figure { margin: 0; background: #fff; border: 1px solid var(--line); border-radius: 6px;
  padding: .3rem; }
figure svg { display: block; width: 100%; height: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .28rem .6rem; }
th { background: var(--soft); font-weight: 600; }
td.same { background: var(--soft); }
td small { color: color-mix(in srgb, var(--ink) 72%, var(--paper)); }
.yes::after { content: " \\2713"; color: var(--good); font-weight: 700; }
.no::after { content: " \\2260"; color: var(--bad); font-weight: 700; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; background: var(--soft);
  border-radius: 4px; padding: .1em .3em; }
pre { padding: .6rem .8rem; overflow-x: auto; }
"""


def page(title: str, body: Iterable[str], style: str = "") -> str:
    """A whole page of the given pieces of HTML; `style` is added to the style of all pages."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def figures(svgs: Iterable[tuple[str, str]], small: bool = False) -> str:
    """Figures side by side, or below each other on narrow screens: (SVG, description)."""
    shown = [
        f'<figure role="img" aria-label="{escape(about)}">{svg}</figure>' for svg, about in svgs
    ]
    return f'<div class="figures{" small" if small else ""}">' + "\n".join(shown) + "</div>"
