"""The page of the service, in a real browser, against a stand-in for the service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from helpers.serve.browsers import Watched, browser, watched
from helpers.serve.fake_service import FakeService
from helpers.serve.made_experiments import HOSTILE, experiment, zoo

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARMS = ["Summer sale", "Free delivery", "New arrivals"]
LIVE = "Live, updated every 2 seconds."
HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
}"""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture
def service() -> Iterator[FakeService]:
    fake = FakeService({"banner": experiment("banner", ARMS)}).start()
    yield fake
    fake.stop()


@pytest.fixture(scope="module")
def whole_zoo() -> Iterator[FakeService]:
    fake = FakeService(zoo()).start()
    yield fake
    fake.stop()


@contextmanager
def opened(
    chrome: Browser, service: FakeService, name: str | None = None, **how: Any
) -> Iterator[Watched]:
    """The page, open at the list or at an experiment, and live."""
    with watched(chrome, **how) as seen:
        seen.page.clock.install()
        seen.page.goto(service.url + ("" if name is None else f"#/experiments/{name}"))
        says(seen.page, "#status", LIVE)
        yield seen


def says(page: Page, place: str, text: str, seconds: float = 6) -> None:
    """Waits until what stands there holds the text."""
    holds = "([place, text]) => document.querySelector(place)?.innerText.includes(text)"
    page.wait_for_function(holds, arg=[place, text], timeout=1000 * seconds)


def later(page: Page, seconds: float = 2) -> None:
    """Lets the page's clock jump ahead."""
    page.clock.fast_forward(int(1000 * seconds))


def asks(page: Page, service: FakeService, number: int) -> None:
    """Wait until the service has had this many requests since it began."""
    limit = time.monotonic() + 5
    while len(service.asked) < number and time.monotonic() < limit:
        page.wait_for_timeout(10)
    assert len(service.asked) == number


def tile(page: Page, name: str) -> str:
    found: str = page.locator(".tile", has=page.locator(f"dt:text-is('{name}')")).inner_text()
    return found


def test_nothing_on_the_console_and_nobody_else_is_asked(
    chrome: Browser, whole_zoo: FakeService
) -> None:
    """Every experiment of the zoo, by way of the list; a breach of the CSP would be said there."""
    with opened(chrome, whole_zoo) as seen:
        page = seen.page
        assert page.locator(".card").count() == len(whole_zoo.experiments)
        for name in whole_zoo.experiments:
            page.click(f"a:text-is('{name}')")
            page.wait_for_function(
                "name => document.title.startsWith(name) && document.querySelector('.settings dd')",
                arg=name,
            )
            assert page.inner_text("h1") == name
            assert page.evaluate("document.activeElement.id") == "title"
            page.go_back()
            page.wait_for_selector(".card")
        assert seen.said == []
        ours = urlsplit(whole_zoo.url).netloc
        assert {urlsplit(url).netloc for url in seen.asked} == {ours}
        assert len(seen.asked) > 30


def test_the_figures_and_the_words(chrome: Browser, service: FakeService) -> None:
    one = service.experiments["banner"]
    with opened(chrome, service, "banner") as seen:
        page = seen.page
        assert f"{one['decisions']:,}" in tile(page, "Decisions")
        assert f"{one['mean']:.3f}" in tile(page, "Reward rate")
        lift = tile(page, "Lift over the control group")
        assert f"+{one['lift']['lift']:.3f}" in lift
        assert one["lift"]["sentence"][1:] in lift
        assert "Decisions that wait count as 0 so far." in lift
        assert page.inner_text(".panel figcaption") == one["arms"][0]["cap"]["sentence"]
        drawn = page.inner_text("section:has(#reward) figcaption")
        # 90 minutes, the last one not over, rewards due for 10: 79 can be drawn.
        assert "newest 10 minutes are left out" in drawn
        assert page.locator("table.arms tbody tr").count() == 3
        page.wait_for_selector("dd:text('event 17 (21 Sep 2026, 14:14:20)')")
        page.reload()
        says(page, "#status", LIVE)
        assert page.inner_text("h1") == "banner"


def test_a_client_s_mistake_is_no_trouble_of_the_service(
    chrome: Browser, service: FakeService
) -> None:
    one = service.experiments["banner"]
    for code, kind, words in (("conflict", "warn", "refusal"), ("unavailable", "bad", "error")):
        one["last_error"] = {"at": one["now"], "message": "said", "code": code}
        with opened(chrome, service, "banner") as seen:
            page = seen.page
            assert page.locator(f".health .dot.{kind}").count() == 1
            assert page.locator(".said.refused").count() == int(kind == "warn")
            assert f"Last {words}, " in page.inner_text(".said")


def test_it_goes_on_without_reloading(chrome: Browser, service: FakeService) -> None:
    with opened(chrome, service, "banner") as seen:
        page = seen.page
        page.click(".panel summary")
        page.evaluate("""() => {
            window.same = document.querySelector('.plot.wide canvas');
            window.before = window.same.toDataURL();
            document.querySelector('.panel summary').focus();
        }""")
        caption = page.inner_text("section:has(#reward) figcaption")
        more = experiment("banner", [*ARMS, "Late comer"], minutes=130)
        service.experiments["banner"] = more
        later(page)
        says(page, ".tiles", f"{more['decisions']:,}")
        assert page.inner_text("section:has(#reward) figcaption") != caption
        assert page.locator(".panel").count() == 4
        # Redrawn on the same canvas; focus and the opened table are as they were.
        page.wait_for_function(
            "() => document.querySelector('.plot.wide canvas') === window.same"
            " && window.same.toDataURL() !== window.before"
        )
        assert page.evaluate("document.activeElement.matches('.panel summary')")
        assert page.locator(".panel details[open]").count() == 1
        assert sum(url.endswith("app.js") for url in seen.asked) == 1
        assert seen.said == []


def test_a_hidden_tab_does_not_ask(chrome: Browser, service: FakeService) -> None:
    with opened(chrome, service) as seen:
        seen.page.evaluate(HIDE, True)
        says(seen.page, "#status", "Paused")
        before = len(service.asked)
        later(seen.page, 60)
        seen.page.wait_for_timeout(200)
        assert len(service.asked) == before
        seen.page.evaluate(HIDE, False)
        says(seen.page, "#status", LIVE, 1)
        later(seen.page)
        asks(seen.page, service, before + 4)


def test_the_service_goes_away_and_comes_back(chrome: Browser, service: FakeService) -> None:
    with opened(chrome, service, "banner") as seen:
        page = seen.page
        figures = page.inner_text(".tiles")
        service.stop()
        later(page)
        says(page, "#status", "No answer since ")
        status = page.inner_text("#status")
        assert status.endswith("; still trying.")
        clock = page.inner_text("#clock").removeprefix("Last answer ")
        assert clock in status
        assert page.inner_text(".tiles") == figures
        assert page.locator(".plot.wide canvas").count() == 2
        service.start()
        page.click("#try-now")
        says(page, "#status", LIVE)
        assert page.locator("#try-now").is_hidden()
        service.trouble = (503, "unavailable", "the log is being read.")
        later(page)
        says(page, "#status", "The service cannot answer now: the log is being read.")
        service.trouble = None
        later(page)
        says(page, "#status", LIVE)  # by itself
        assert page.inner_text(".tiles") == figures


def test_it_asks_ever_more_slowly(chrome: Browser, service: FakeService) -> None:
    service.trouble = (503, "unavailable", "not yet")
    with watched(chrome) as seen:
        page = seen.page
        page.clock.install()
        page.goto(service.url)
        says(page, "#status", "cannot answer now")
        for wait in (2, 4, 8, 16, 30, 30):
            before = len(service.asked)
            later(page, wait - 1)
            page.wait_for_timeout(50)
            assert len(service.asked) == before
            later(page, 1)
            asks(page, service, before + 2)
            page.wait_for_timeout(50)


def test_the_key_form(chrome: Browser, service: FakeService) -> None:
    service.keys = {"secret": {"read"}, "clicks": {"reward"}}
    with watched(chrome) as seen:
        page = seen.page
        page.goto(service.url)
        says(page, "#key-why", "requires an API key")
        assert page.evaluate("document.activeElement.id") == "key-input"
        assert page.locator("#forget-key").is_hidden()

        def use(key: str) -> None:
            page.fill("#key-input", key)
            page.keyboard.press("Enter")

        use("wrong")
        says(page, "#key-why", "is not valid")
        use("two words")
        says(page, "#key-why", "without spaces")
        use("clicks")
        says(page, "#status", "This key may not read")
        says(page, "#key-why", "this key may not do that: it needs read")
        use("secret")
        says(page, "#status", LIVE)
        assert page.locator("#key").is_hidden()
        assert page.locator(".card").count() == 1
        assert page.url == service.url
        assert page.evaluate("[{...sessionStorage}, {...localStorage}, document.cookie]") == [
            {"rotting-key": "secret"}, {}, "",
        ]  # fmt: skip
        assert not any("secret" in url for url in seen.asked)
        page.click("#forget-key")
        says(page, "#key-why", "requires an API key")
        assert page.locator(".card").count() == 0
        assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_labels_are_text(chrome: Browser, whole_zoo: FakeService, width: int) -> None:
    with opened(chrome, whole_zoo, "hostile", width=width) as seen:
        page = seen.page
        assert page.locator("table.arms th .label").all_text_contents() == HOSTILE
        assert page.locator(".panel h3 .label").all_text_contents() == HOSTILE
        tables = page.locator("summary").count()
        for details in page.locator("summary").all():
            details.click()
        page.wait_for_function(
            "n => document.querySelectorAll('details tbody').length === n", arg=tables
        )
        assert page.evaluate("window.harmed") is None
        assert page.locator("main img, main script, main b").count() == 0
        check_fits(page)
        assert seen.said == []


def check_fits(page: Page) -> None:
    """The page does not scroll sideways, and no text hangs out of its card."""
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    out = page.evaluate("""() => [...document.querySelectorAll('main *')].filter(node => {
        const box = node.getBoundingClientRect();
        return box.width && box.right > innerWidth + 1 && !node.closest('.scroll');
    }).map(node => node.outerHTML.slice(0, 80))""")
    assert out == []


def test_a_phone_does_not_scroll_sideways(chrome: Browser, whole_zoo: FakeService) -> None:
    with opened(chrome, whole_zoo, width=360) as seen:
        check_fits(seen.page)
        for name in whole_zoo.experiments:
            seen.page.evaluate("name => { location.hash = '#/experiments/' + name; }", name)
            seen.page.wait_for_function(
                "name => document.querySelector('h1').textContent === name"
                " && document.querySelector('.settings dd')",
                arg=name,
            )
            check_fits(seen.page)


CONTRAST = """() => {
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = node => {
        for (let at = node; at; at = at.parentElement) {
            const found = parse(getComputedStyle(at).backgroundColor);
            if (found.length === 3 || found[3] === 1) return found;
        }
        return [255, 255, 255];
    };
    const poor = [];
    let seen = 0;
    for (const node of document.querySelectorAll('body *')) {
        if (![...node.childNodes].some(c => c.nodeType === 3 && c.data.trim())) continue;
        if (!node.getClientRects().length) continue;
        const pair = [light(parse(getComputedStyle(node).color)), light(ground(node))];
        const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
        seen += 1;
        if (ratio < 4.5) poor.push([node.outerHTML.slice(0, 80), ratio]);
    }
    return [seen, poor];
}"""


def test_dark_and_light(chrome: Browser, whole_zoo: FakeService) -> None:
    """They differ, also what is drawn, at once when the scheme changes; every text can be read."""
    look = """() => [getComputedStyle(document.body).backgroundColor,
                     document.querySelector('canvas').toDataURL()]"""
    with opened(chrome, whole_zoo, "hostile", scheme="dark") as seen:
        page = seen.page
        page.wait_for_selector("canvas")
        looks = [page.evaluate(look)]
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            checked, poor = page.evaluate(CONTRAST)
            assert checked > 100
            assert poor == []
        page.wait_for_function(f"before => ({look})()[1] !== before", arg=looks[0][1])
        looks.append(page.evaluate(look))
        assert looks[0][0] != looks[1][0]


def test_the_keyboard_reaches_everything(chrome: Browser, service: FakeService) -> None:
    with opened(chrome, service) as seen:
        page = seen.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        assert page.url == service.url
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "banner"
        page.keyboard.press("Enter")
        page.wait_for_selector(".settings dd")
        page.evaluate("document.activeElement.blur()")
        wanted = page.locator("a:visible, button:visible, summary:visible, [tabindex='0']:visible")
        reached = set()
        for _ in range(wanted.count() + 3):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate("""() => {
                const node = document.activeElement;
                const ring = getComputedStyle(node).outlineStyle;
                const all = [...document.querySelectorAll('*')];
                return node === document.body ? null : [all.indexOf(node), ring].join(' ');
            }""")
            )
        reached.discard(None)
        assert len(reached) == wanted.count()
        assert all(found.endswith("solid") for found in reached)


def test_headings_and_landmarks(chrome: Browser, whole_zoo: FakeService) -> None:
    for name in (None, "banner"):
        with opened(chrome, whole_zoo, name) as seen:
            page = seen.page
            levels = page.evaluate("""() => [...document.querySelectorAll('h1, h2, h3, h4')]
                .filter(node => node.getClientRects().length)
                .map(node => Number(node.tagName[1]))""")
            assert levels[0] == 1
            assert levels.count(1) == 1
            assert all(below <= above + 1 for above, below in pairwise(levels))
            for landmark in ("header", "nav", "main", "footer"):
                assert page.locator(landmark).count() == 1
            assert page.locator("[aria-live]").evaluate_all("all => all.map(n => n.id)") == [
                "status"
            ]


@pytest.mark.parametrize("name", ["banner", "plain"])
def test_every_chart_has_words_and_a_table(
    chrome: Browser, whole_zoo: FakeService, name: str
) -> None:
    """`plain` has no audience, hence cells in place of curves."""
    one = whole_zoo.experiments[name]
    with opened(chrome, whole_zoo, name) as seen:
        page = seen.page
        page.wait_for_selector("canvas")
        page.evaluate(HIDE, True)  # tables are there when they are opened, not an answer later
        figures = page.locator("figure")
        assert figures.count() == 2 + len(one["arms"]) == page.locator("canvas").count()
        for figure in figures.all():
            picture = figure.locator("[role=img]")
            words = page.locator("#" + (picture.get_attribute("aria-labelledby") or ""))
            assert len(words.inner_text()) > 20
            figure.locator("summary").click()
            figure.locator("tbody tr").nth(4).wait_for()
            heads = figure.locator("thead th[scope=col]").count()
            assert figure.locator("tbody tr").first.locator("th, td").count() == heads
        shares = page.locator("section:has(#shares) .end .label").all_inner_texts()
        assert sorted(text.split("% ")[1] if "% " in text else text.split("%")[1].strip()
                      for text in shares) == sorted(arm["arm"] for arm in one["arms"])  # fmt: skip
        ends = page.locator("section:has(#reward) .end .label").all_inner_texts()
        assert sorted(ends) == (["control group", "policy"] if one["control"] else ["policy"])


def test_empty_states(chrome: Browser, whole_zoo: FakeService) -> None:
    lines = {
        "no-decisions": ("#curves", "Not shown yet."),
        "no-rewards": ("#reward", "No rewards yet"),
        "first-minute": ("#reward", "first reward window, 10 minutes"),
        "plain": ("#glance", "No control group"),
        "all-retired": ("#arms", "retired"),
        "one-arm": ("#curves", "No cap"),
        "nobody": ("#title", "nobody"),
    }
    with opened(chrome, whole_zoo) as seen:
        page = seen.page
        for name, (place, text) in lines.items():
            page.evaluate("name => { location.hash = '#/experiments/' + name; }", name)
            says(page, "h1", name)
            if name == "nobody":
                says(page, ".one", "There is no experiment called nobody.")
            else:
                says(page, f"section:has({place})", text)
        page.evaluate("location.hash = '#/experiments/many'")
        page.wait_for_selector("button:text('Draw all 40 arms')")
        assert page.locator(".panel").count() == 12
        says(page, "section:has(#shares) figcaption", "others")
        page.click("button:text('Draw all 40 arms')")
        assert page.locator(".panel canvas").count() == 40


def test_no_experiments(chrome: Browser, service: FakeService) -> None:
    made = service.experiments.pop("banner")
    with opened(chrome, service) as seen:
        line = seen.page.inner_text("pre")
        assert line.startswith(
            f"curl {service.url}v1/experiments -H 'Content-Type: application/json'"
        )
        service.experiments["banner"] = made
        later(seen.page)
        seen.page.wait_for_selector(".card")
        assert seen.page.locator("pre").is_hidden()
