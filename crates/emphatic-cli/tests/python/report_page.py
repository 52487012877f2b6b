"""Opens a report in a browser and uses it as a reader would.

    python report_page.py REPORT.html [SCREENSHOTS]

Exits with 1 and a message if anything is wrong. CHROMIUM is the path of the browser.
"""

import os
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = (1280, 360)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Failure(Exception):
    """What a reader would complain about."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def open_page(browser, address, width, scheme="light"):
    """The page in a window this wide, and the list of everything that goes wrong in it."""
    troubles = []
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.on("pageerror", lambda error: troubles.append(f"page error: {error}"))
    page.on("console", lambda line: line.type in ("error", "warning") and troubles.append(f"console: {line.text}"))
    page.on("request", lambda request: request.url != address and troubles.append(f"request: {request.url}"))
    page.goto(address)
    return page, troubles


def check_width(page, width):
    wide = page.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
    check(wide <= width, f"the page is {wide} px wide in a window of {width} px")


def check_lines(panel, name):
    """Every method has a line, and no coordinate is not a number."""
    paths = panel.locator("g.method path.line").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    check(paths, f"{name} has no lines")
    check(all(re.fullmatch(r"(?:[ML]-?[\d.]+ -?[\d.]+)+", path) for path in paths), f"{name} has a line without points")


def check_hover(page, panel, name, width):
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    for part in (0.3, 0.6, 0.95):
        page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
        tooltip = page.locator("#tooltip")
        check(tooltip.is_visible(), f"{name} shows no tooltip")
        values = tooltip.locator("td").all_inner_texts()
        check(any(re.search(r"\d", value) for value in values), f"{name}: no number in the tooltip {values}")
        shown = tooltip.bounding_box()
        inside = shown["x"] >= 0 and shown["x"] + shown["width"] <= width
        inside = inside and shown["y"] >= 0 and shown["y"] + shown["height"] <= page.viewport_size["height"]
        check(inside, f"{name}: the tooltip leaves the window: {shown}")
    check(panel.locator(".guide line").count() == 1, f"{name} shows no guide")
    page.mouse.move(0, 0)
    check(not page.locator("#tooltip").is_visible(), f"{name}: the tooltip stays when the pointer leaves")


def check_keys(page, panel, name):
    panel.focus()
    page.keyboard.press("Home")
    first = page.locator("#tooltip").inner_text()
    page.keyboard.press("ArrowRight")
    check(page.locator("#tooltip").inner_text() != first, f"{name}: the arrow keys change nothing")
    page.keyboard.press("Escape")
    check(not page.locator("#tooltip").is_visible(), f"{name}: Escape leaves the tooltip")


def check_toggle(figure, button, name):
    """The button hides its method in every panel of the figure, and only that one, and shows it again."""
    method = button.get_attribute("data-method")
    states = "groups => groups.map(g => [g.dataset.method, getComputedStyle(g).display !== 'none'])"
    groups = figure.locator(".panels g.method")
    drawn = groups.evaluate_all(states)
    check(any(drawn_method == method for drawn_method, _ in drawn), f"{name}: {method} is in no panel")
    check(all(shown for _, shown in drawn), f"{name}: a method is hidden before any button is pressed")
    for pressed in ("false", "true"):
        button.click()
        check(button.get_attribute("aria-pressed") == pressed, f"{name}: the button of {method} does not change")
        for other, shown in groups.evaluate_all(states):
            expected = other != method or pressed == "true"
            check(shown == expected, f"{name}: {other} is {'shown' if shown else 'hidden'} after {method} is toggled")


def check_figures(page, width):
    figures = page.locator("section.figure")
    check(figures.count() > 0, "there is no figure")
    for figure in figures.all():
        name = figure.get_attribute("id")
        panels = figure.locator("svg.panel:has(.plot)").all()
        check(panels, f"{name} has no panel")
        for panel in panels:
            panel_name = panel.get_attribute("id")
            check_lines(panel, panel_name)
            check_hover(page, panel, panel_name, width)
            check_keys(page, panel, panel_name)
        for button in figure.locator(".legend button").all():
            check_toggle(figure, button, name)


def check_page(browser, address, width):
    page, troubles = open_page(browser, address, width)
    check_width(page, width)
    check_figures(page, width)
    check_width(page, width)
    check(not troubles, "; ".join(troubles))
    page.close()


def screenshots(browser, address, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for width in (1280, 768, 360):
        for scheme in ("light", "dark"):
            page, _ = open_page(browser, address, width, scheme)
            page.screenshot(path=directory / f"page-{width}-{scheme}.png", full_page=True)
            figure = page.locator("section.figure").last
            figure.locator(".legend button").first.click()
            panel = figure.locator("svg.panel:has(.plot)").first
            panel.scroll_into_view_if_needed()
            box = panel.bounding_box()
            page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + box["height"] / 2)
            page.screenshot(path=directory / f"tooltip-{width}-{scheme}.png")
            page.close()
    page, _ = open_page(browser, address, 1280)
    page.pdf(path=directory / "page.pdf", format="A4", prefer_css_page_size=True)
    page.close()


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    address = Path(arguments[0]).resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=FLAGS)
        try:
            for width in WIDTHS:
                check_page(browser, address, width)
            if len(arguments) == 2:
                screenshots(browser, address, Path(arguments[1]))
        except Failure as failure:
            sys.exit(f"{arguments[0]}: {failure}")
        finally:
            browser.close()
    print(f"{arguments[0]}: all is well at {' and '.join(map(str, WIDTHS))} px")


if __name__ == "__main__":
    main(sys.argv[1:])
