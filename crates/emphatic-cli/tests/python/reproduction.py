"""A reproduction says what its tables hold: every number is computed again, from the Parquet files alone."""

import json
import re
import struct
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pandas as pd
from scipy import stats

from command import DIRECTORY, emphatic, summary

FIGURES = ["fig1", "fig2", "fig3", "fig3-aliased", "fig4", "fig5"]
ALIASED = {"fig4": "target.S9.A0", "fig5": "target.S1"}
CRITIC = {"critic": "kind", "critic_features": "features", "alpha_v": "alpha_v", "alpha_w": "alpha_w", "lambda": "lambda"}
PERCENT = [0, 5, 25, 50, 75, 95, 100]
SVG = "{http://www.w3.org/2000/svg}"


def same(found, expected, what):
    """Equal but for the order in which sums are taken; a number that does not exist is null."""
    if expected is None or not np.isfinite(expected):
        assert found is None, f"{what}: {found}, but there is no such number"
    else:
        assert found is not None and np.isclose(found, expected, rtol=1e-11, atol=1e-14), f"{what}: {found}, not {expected}"


def all_same(found, expected, what):
    assert len(found) == len(expected), f"{what}: {len(found)} numbers, not {len(expected)}"
    for k, (a, b) in enumerate(zip(found, expected)):
        same(a, b, f"{what}[{k}]")


def sem(values):
    values = values.dropna()
    return values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else None


def label(method):
    lambda_a = method.get("lambda_a")
    return method["method"] + (f"({lambda_a:g})" if lambda_a is not None else "")


class Figure:
    """A figure's tables, with what a method is in it."""

    def __init__(self, directory, name):
        self.name, self.directory = name, directory / name
        results = self.directory / "results"
        self.settings = pd.read_parquet(results / "settings.parquet").set_index("setting")
        self.results = pd.read_parquet(results / "results.parquet")
        self.fresh = pd.read_parquet(results / "fresh.parquet")
        self.summary = json.loads((self.directory / "summary.json").read_text())
        self.lab = summary(results)
        self.aliased = ALIASED.get(name, "target.S1.A0")
        self.last = self.results["evaluation"].max()

    def finals(self, setting):
        rows = self.results[(self.results["setting"] == setting) & (self.results["evaluation"] == self.last)]
        return rows.sort_values("run")

    def settings_of(self, method):
        rows = self.settings[self.settings["method"] == method["method"]]
        return rows[rows["lambda_a"] == method["lambda_a"]] if "lambda_a" in method else rows

    def best_of(self, settings):
        """The fewest runs without a value, then the largest mean, then the first."""
        finals = self.results[(self.results["evaluation"] == self.last) & self.results["setting"].isin(settings)]
        scores = finals.groupby("setting")["objective"].agg(["count", "mean"]).sort_index()
        scores = scores.sort_values(["count", "mean"], ascending=False, kind="stable")
        return scores.index[0]

    def critic(self, setting):
        row = self.settings.loc[setting]
        return {new: row[old] for old, new in CRITIC.items() if old in row and pd.notna(row[old])}


def check_method(figure, method, lab):
    what = f"{figure.name} {label(method)}"
    settings = figure.settings_of(method)
    sizes = sorted(settings["alpha"].unique())
    assert [size["alpha"] for size in method["sensitivity"]] == sizes, what
    for size in method["sensitivity"]:
        setting = figure.best_of(settings.index[settings["alpha"] == size["alpha"]])
        finals = figure.finals(setting)
        place = f"{what} alpha {size['alpha']}"
        same(size["final_mean"], finals["objective"].mean(), place)
        same(size["final_sem"], sem(finals["objective"]), place)
        assert size["diverged"] == finals["diverged_step"].notna().sum(), place
        assert size["critic"] == figure.critic(setting), place

    best = figure.best_of(settings.index)
    assert method["best"]["alpha"] == figure.settings.loc[best, "alpha"], what
    assert method["best"]["critic"] == figure.critic(best), what
    certainty = lab["probability_best"] if lab["runs"] > 1 else None
    assert method["best"]["probability_best"] == certainty and lab["best"] == best, what
    runs = figure.results[figure.results["setting"] == best]
    curve = runs.groupby("evaluation")
    assert method["best"]["episodes"] == curve["episode"].first().tolist(), what
    for name, column in [("objective", "objective"), ("aliased", figure.aliased)]:
        # Where a run has no value, the others' mean is not shown.
        whole = [rows[column] if rows[column].notna().all() else None for _, rows in curve]
        means = [None if values is None else values.mean() for values in whole]
        errors = [None if values is None else sem(values) for values in whole]
        all_same(method["best"][f"{name}_mean"], means, f"{what} {name}")
        all_same(method["best"][f"{name}_sem"], errors, f"{what} {name}")

    fresh = figure.fresh[(figure.fresh["setting"] == best) & (figure.fresh["evaluation"] == figure.last)]
    found = method["fresh"]
    assert (found["runs"], found["diverged"]) == (len(fresh), fresh["diverged_step"].notna().sum()), what
    same(found["final_mean"], fresh["objective"].mean(), what)
    same(found["final_sem"], sem(fresh["objective"]), what)
    same(found["aliased_mean"], fresh[figure.aliased].mean(), what)
    same(found["aliased_sem"], sem(fresh[figure.aliased]), what)
    quantiles = np.quantile(fresh["objective"].dropna(), np.array(PERCENT) / 100)
    all_same([found["final_quantiles"][str(percent)] for percent in PERCENT], quantiles, what)


def panels(figure):
    """What each panel shows, from the summary: x, y and the standard error of each method's line."""
    def gap(size):
        # The mean of the runs that did not diverge is not shown.
        return size["final_mean"] if size["diverged"] == 0 else None

    shown = {"sensitivity": {}, "curves": {}, "policy": {}}
    for method in figure.summary["methods"]:
        sizes, best = method["sensitivity"], method["best"]
        shown["sensitivity"][label(method)] = (
            [size["alpha"] for size in sizes], [gap(size) for size in sizes], [size["final_sem"] for size in sizes])
        for panel, name in [("curves", "objective"), ("policy", "aliased")]:
            shown[panel][label(method)] = (best["episodes"], best[f"{name}_mean"], best[f"{name}_sem"])
    if figure.name == "fig1":
        del shown["sensitivity"]
    return shown


def check_page_data(page, figures):
    """What the page shows when hovering is what the summaries say, to the bit."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    assert [entry["id"] for entry in data] == [figure.name for figure in figures]
    for entry, figure in zip(data, figures):
        expected = panels(figure)
        assert [panel["name"] for panel in entry["panels"]] == list(expected), figure.name
        for panel in entry["panels"]:
            lines = {line["method"]: (line["x"], line["y"], line["error"]) for line in panel["lines"]}
            assert lines == expected[panel["name"]], f"{figure.name} {panel['name']}"


class Cells(HTMLParser):
    """The cells of all tables, row by row, and the claims' rows by name."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.cell = [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = []

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append("".join(self.cell))
            self.cell = None


def number(text):
    return float(text.replace("−", "-"))


def is_rounded(text, value):
    """Whether a number is shown as it is, up to the last decimal that is shown."""
    decimals = len(text.partition(".")[2])
    return abs(number(text) - value) <= 0.501 * 10.0**-decimals


def check_page_tables(page, figures):
    """Fresh runs are shown as in the summaries, rounded; and every claim with its verdict."""
    rows = Cells(page).rows
    fresh = [(figure, method) for figure in figures for method in figure.summary["methods"]]
    shown = [row for row in rows if len(row) == 11 and row[0] != "method"]
    assert len(shown) == len(fresh)
    for row, (figure, method) in zip(shown, fresh):
        found = method["fresh"]
        assert row[0] == label(method) and number(row[1]) == method["best"]["alpha"], row
        certainty = method["best"]["probability_best"]
        assert row[3] == ("–" if certainty is None else f"{100 * certainty:.0f} %"), row
        assert int(row[4]) == found["runs"], row
        mean, error = row[5].split(" ± ")
        quantiles = [found["final_quantiles"][percent] for percent in ("5", "50", "95")]
        aliased, _ = row[9].split(" ± ")
        expected = [found["final_mean"], found["final_sem"], *quantiles, found["aliased_mean"]]
        assert all(map(is_rounded, [mean, error, *row[6:9], aliased], expected)), (row, expected)
        assert int(row[10]) == found["diverged"], row
    for figure in figures:
        for claim in figure.summary["claims"]:
            row = next(row for row in rows if row[0] == claim["id"])
            assert claim["verdict"] in row[2], row


def ruler(text):
    """Where an axis has a value, by what the drawing says of itself."""
    low, high, start, end, scale = text.split()
    low, high, start, end = map(float, (low, high, start, end))
    return lambda value: start + ((np.log10(value) if scale == "log" else value) - low) / (high - low) * (end - start)


def check_drawings(figure):
    for name, lines in panels(figure).items():
        root = ElementTree.parse(figure.directory / f"{name}.svg").getroot()
        groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == "method"]
        assert [group.get("data-method") for group in groups] == list(lines), f"{figure.name} {name}"
        plot = next(group for group in root.iter(f"{SVG}g") if group.get("class") == "plot")
        rulers = [ruler(plot.get(f"data-{axis}")) for axis in "xy"]
        for group in groups:
            x, y, _ = lines[group.get("data-method")]
            paths = [path.get("d") for path in group.iter(f"{SVG}path") if path.get("class") == "line"]
            drawn = [tuple(map(float, point)) for path in paths for point in re.findall(r"[ML](\S+) ([^ML]+)", path)]
            expected = [(rulers[0](a), rulers[1](b)) for a, b in zip(x, y) if b is not None]
            assert len(drawn) == len(expected), f"{figure.name} {name}: {len(drawn)} of {len(expected)} points"
            # Pixels are written with two decimals, and so are the ends of the axes.
            assert np.allclose(drawn, expected, rtol=0, atol=0.0101), f"{figure.name} {name}: {drawn} {expected}"
    for png in figure.directory.glob("*.png"):
        data = png.read_bytes()
        width, height = struct.unpack(">II", data[16:24])
        # 3.3 inches alone, 7 in a row, at 300 dots an inch.
        assert width in (990, 2100) and 400 < height < 1000, (png, width, height)
        at = data.index(b"pHYs") + 4
        assert struct.unpack(">IIB", data[at : at + 9]) == (11811, 11811, 1), png


class Judge:
    """The rules of some claims, written again."""

    def __init__(self, figure):
        self.figure = figure
        self.gap = figure.summary["optimum"] - figure.summary["semi_gradient"]

    def fresh(self, name, column="objective"):
        method = next(m for m in self.figure.summary["methods"] if label(m) == name)
        best = self.figure.best_of(self.figure.settings_of(method).index)
        rows = self.figure.fresh
        rows = rows[(rows["setting"] == best) & (rows["evaluation"] == self.figure.last)]
        return rows.sort_values("run")[column].to_numpy()

    @staticmethod
    def condition(values, low, high):
        if np.isnan(values).any():
            return None
        reach = stats.t.ppf(0.995, len(values) - 1) * stats.sem(values)
        start, end = values.mean() - reach, values.mean() + reach
        if start > low and end < high:
            return True
        return False if end <= low or start >= high else None

    @staticmethod
    def verdict(*conditions):
        if any(condition is False for condition in conditions):
            return "refuted"
        return "confirmed" if all(conditions) else "not decided"

    def verdicts(self):
        inf, gap, optimum, condition = np.inf, self.gap, self.figure.summary["optimum"], self.condition
        lead = lambda better, worse: self.fresh(better) - self.fresh(worse)
        near = lambda name, value: condition(self.fresh(name), value - 0.05 * gap, value + 0.05 * gap)
        match self.figure.name:
            case "fig1":
                aliased = lambda name: self.fresh(name, "target.S1.A0")
                yield "F1a", self.verdict(near("ACE(0)", 0.875), near("ACE(1)", optimum))
                yield "F1b", self.verdict(condition(aliased("ACE(0)"), -inf, 0.05), condition(aliased("ACE(1)"), 0.95, inf))
            case "fig2":
                high = ["ACE(0.5)", "ACE(0.75)", "ACE(1)"]
                start = self.figure.summary["start"]
                yield "F2a", self.verdict(condition(self.fresh("ACE(0)"), -inf, start))
                better = [condition(lead(name, "ACE(0.25)"), 0, inf) for name in high]
                yield "F2b", self.verdict(condition(self.fresh("ACE(0.25)"), start, inf), *better)
                yield "F2c", self.verdict(*[near(name, optimum) for name in high])
            case "fig3":
                below = condition(self.fresh("ACE(0)"), -inf, optimum - 0.05 * gap)
                yield "F3a", self.verdict(below, condition(lead("ACE(0.25)", "ACE(0)"), 0.25 * gap, inf))
            case "fig4":
                names = [f"ACE({x})" for x in ("0", "0.25", "0.5", "0.75", "1")]
                pairs = [condition(lead(more, less), 0, inf) for less, more in zip(names, names[1:])]
                yield "F4a", self.verdict(*pairs)
                yield "F4b", self.verdict(condition(lead("True-ACE", "ACE(1)"), 0.05 * gap, inf))
            case "fig5":
                action = lambda name: self.fresh(name, "target.S1")
                below = condition(self.fresh("DPG"), -inf, optimum - 0.05 * gap)
                yield "F5a", self.verdict(below, condition(action("DPG"), 0, inf))
                yield "F5b", self.verdict(
                    condition(action("True-DPGE"), -inf, 0), condition(lead("True-DPGE", "DPG"), 0, inf),
                    condition(action("True-ACE"), -inf, 0), condition(lead("True-ACE", "DPG"), 0, inf),
                    condition(lead("True-DPGE", "True-ACE"), 0, inf))
                aces = [condition(lead(name, "DPG"), -inf, 0.05 * gap) for name in ("ACE(0)", "ACE(0.5)", "ACE(1)")]
                yield "F5c", self.verdict(*aces)


def check_claims(figure, printed, enough_runs):
    """The verdicts are those of the rules; with fewer runs than the paper's there are none."""
    claims = {claim["id"]: claim for claim in figure.summary["claims"]}
    for name, verdict in Judge(figure).verdicts():
        expected = verdict if enough_runs else "not decided"
        assert claims[name]["verdict"] == expected, f"{name}: {claims[name]}, not {expected}"
    for name, claim in claims.items():
        assert re.search(rf"^{name} +{claim['verdict']}", printed, re.M), f"{name} is not in what is printed:\n{printed}"
        assert ("fewer runs" in claim["evidence"]) != enough_runs, claim
    return len(claims)


def reproduction(name, *arguments):
    """The figures, having checked everything but the claims; and what was printed."""
    out = DIRECTORY / name
    printed = emphatic("reproduce", *arguments, "--quiet", "--out", out)
    figures = [Figure(out, name) for name in FIGURES if (out / name).exists()]
    page = (out / "report.html").read_text()
    for figure in figures:
        for method, lab in zip(figure.summary["methods"], figure.lab["methods"], strict=True):
            check_method(figure, method, lab)
        check_drawings(figure)
    check_page_data(page, figures)
    check_page_tables(page, figures)
    claims = json.loads((out / "claims.json").read_text())
    assert [claim["id"] for claim in claims[:4]] == ["T1", "T2", "T3", "T4"]
    assert claims[4:] == [claim for figure in figures for claim in figure.summary["claims"]]
    # Again it has nothing to do, and says the same.
    again = emphatic("reproduce", *arguments, "--quiet", "--out", out)
    assert "updates" in printed and "updates" not in again
    assert page == (out / "report.html").read_text()
    return figures, printed


def main():
    figures, printed = reproduction("reproduction", "--quick")
    assert sum(check_claims(figure, printed, False) for figure in figures) == 12
    # At full scale, as far as it is quickly done.
    figures, printed = reproduction("full", "fig1", "fig2")
    assert sum(check_claims(figure, printed, True) for figure in figures) == 6


if __name__ == "__main__":
    main()
