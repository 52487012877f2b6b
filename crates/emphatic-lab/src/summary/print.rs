//! Summaries as text.

use super::{Diverged, FixedPoint, FreshSummary, MethodSummary, SettingSummary, Statistics, Summary};
use crate::statistics::quantile;
use emphatic_text::{csv, exact_number, shortened};
use serde_json::{Map, Value};
use std::fmt::Write;

/// The most characters of a method's name that are shown.
const LONGEST_NAME: usize = 60;

/// The most characters of a setting's value that are shown: an interest lists all states.
const LONGEST_VALUE: usize = 40;

/// The most methods of which it is said how many of their runs diverged.
const MOST_DIVERGED: usize = 8;

/// The median of fresh runs, and how many of them are above a number. Those that have diverged are at the worst end of both, if there is one.
fn median_and_above(fresh: &FreshSummary, values: &[f64], above: f64, best_is: &str) -> [String; 2] {
    let lost = fresh.runs - values.len();
    let (below, beyond) = match best_is {
        "smallest" => (0, lost),
        "largest" => (lost, 0),
        _ => (0, 0),
    };
    let all = [f64::NEG_INFINITY].repeat(below).into_iter();
    let all = all.chain(values.iter().copied()).chain([f64::INFINITY].repeat(beyond));
    let median = quantile(&all.collect::<Vec<_>>(), 0.5).filter(|x| x.is_finite());
    let count = beyond + values.iter().filter(|x| **x > above).count();
    [number(median), format!("{count} of {}", fresh.runs)]
}

impl Summary {
    /// A table for people to read.
    pub fn text(&self) -> String {
        self.text_with(None)
    }

    /// The same, with the median of fresh runs, and how many of them are above a number, by what settings are judged by: the end or the average
    /// of a run. Means hide that some runs end in one place and some in another.
    pub fn text_above(&self, number: f64) -> String {
        self.text_with(Some(number))
    }

    /// How far it is, if it is not complete.
    pub(crate) fn under_way(&self) -> Option<String> {
        let (done, units) = (self.units_done, self.units);
        let text = match done < units {
            true => format!("Under way: {done} of {units} units are there."),
            false => format!("Under way: {done} units are there; the same `emphatic run` does what is left."),
        };
        (!self.complete).then_some(text)
    }

    fn text_with(&self, above: Option<f64>) -> String {
        let mut rows = vec![Vec::from(
            ["method", "best setting", "runs", "diverged", "mean", "±", "iqm", "95 % of iqm", "is the best"]
                .map(str::to_owned),
        )];
        let fresh = self.methods.iter().any(|m| m.fresh.is_some());
        if fresh {
            rows[0].extend(["fresh runs", "diverged", "mean", "±"].map(str::to_owned));
            rows[0].extend(
                above.into_iter().flat_map(|x| ["median".to_owned(), format!("above {}", exact_number(x))]),
            );
        }
        let fixed_points = self.methods.iter().any(|m| m.fixed_point.is_some());
        if fixed_points {
            rows[0].extend(["fixed point", "stable"].map(str::to_owned));
        }
        for method in &self.methods {
            let mut row = self.row(method, fresh, above);
            if fixed_points {
                row.extend(method.fixed_point.as_ref().map(FixedPoint::cells).unwrap_or_default());
            }
            rows.push(row);
        }
        let mut text = String::new();
        let judged = if self.select == "area" { "averaged over a run" } else { "at the end of a run" };
        if let Some(under_way) = self.under_way() {
            let _ = writeln!(text, "{under_way}\n");
        }
        if let Some(x) = above.filter(|_| !fresh) {
            let x = exact_number(x);
            let _ = writeln!(text, "There are no fresh runs of which to say how many are above {x}.\n");
        }
        let quantity = match self.quantity.as_str() {
            "objective" => "The objective".to_owned(),
            other => format!("`{other}`"),
        };
        let less = if self.best_is == "smallest" { " (less is better)" } else { "" };
        let by = match self.chosen_by == self.quantity {
            true => String::new(),
            false => format!(", which is chosen by `{}`", self.chosen_by),
        };
        let _ = writeln!(text, "{quantity} {judged}{less}, for the best setting of each method{by}:\n");
        text += &emphatic_text::table(rows, 2, 0);
        let _ = writeln!(
            text,
            "\n±: one standard error. iqm: interquartile mean. is the best: how probable it is, by the bootstrap over\n\
             runs, that this setting is the best of its method{}.",
            if self.methods.iter().any(|method| method.finalists > 0) { " (of its finalists)" } else { "" }
        );
        if let Some([chosen, fresh]) = self.evaluations.filter(|_| fresh && self.select == "area") {
            let _ = writeln!(
                text,
                "Averages over fresh runs are of {fresh} evaluations, the others of {chosen}: where runs begin badly, more of them weigh the beginning less."
            );
        }
        if fixed_points {
            let _ = writeln!(
                text,
                "fixed point: the same error of the weights at which the critic's expected update is zero. stable: whether that update leads there."
            );
        }
        if self.diverged_runs > 0 {
            let (runs, methods) = (self.diverged_runs, self.diverged_methods());
            let _ = writeln!(
                text,
                "{runs} runs of settings ended with weights that are not finite, over the whole grid: {methods}."
            );
        }
        text
    }

    /// How many runs of the settings of each method diverged, if any did.
    fn diverged_methods(&self) -> String {
        let methods = self.methods.iter().map(|m| (&m.method, &m.values, m.diverged));
        let without = self.without_best.iter().map(|m| (&m.method, &m.values, m.diverged));
        let mut texts: Vec<String> = methods
            .chain(without)
            .filter(|(_, _, diverged)| diverged.runs > 0)
            .map(|(name, values, Diverged { runs, of })| format!("{} {runs} of {of}", label(name, values)))
            .collect();
        let more = texts.len().saturating_sub(MOST_DIVERGED);
        texts.truncate(MOST_DIVERGED);
        texts.extend((more > 0).then(|| format!("and of {more} more methods")));
        texts.join("; ")
    }

    fn row(&self, method: &MethodSummary, fresh: bool, above: Option<f64>) -> Vec<String> {
        let best = method.settings.iter().find(|s| s.setting == method.best);
        let none = Statistics::default();
        let statistics = best.map_or(&none, |best| self.judged(&best.at_end, &best.area));
        let mut row = vec![
            label(&method.method, &method.values),
            pairs(&method.best_values),
            method.runs.to_string(),
            statistics.diverged.to_string(),
            number(statistics.mean),
            error(statistics.standard_error),
            number(statistics.interquartile_mean),
            statistics
                .interval
                .filter(|_| method.runs > 1)
                .map_or_else(String::new, |i| format!("{} … {}", decimal(i.low), decimal(i.high))),
            // A single run says nothing about others.
            if method.runs < 2 { String::new() } else { format!("{:.0} %", 100.0 * method.probability_best) },
        ];
        if fresh {
            let cells = method.fresh.as_ref().map(|fresh| {
                let judged = self.judged(&fresh.at_end, &fresh.area);
                let diverged = judged.diverged.to_string();
                [fresh.runs.to_string(), diverged, number(judged.mean), error(judged.standard_error)]
            });
            row.extend(cells.unwrap_or_default());
            row.extend(above.into_iter().flat_map(|x| self.median_and_above(method, x)));
        }
        row
    }

    /// The median of a method's fresh runs, and how many are above a number.
    fn median_and_above(&self, method: &MethodSummary, above: f64) -> [String; 2] {
        let Some(fresh) = &method.fresh else { return [String::new(), String::new()] };
        let values = if self.select == "area" { &fresh.area_values } else { &fresh.final_values };
        median_and_above(fresh, values, above, self.best_is)
    }

    /// The one by which settings are judged.
    fn judged<'a>(&self, at_end: &'a Statistics, area: &'a Statistics) -> &'a Statistics {
        if self.select == "area" { area } else { at_end }
    }

    /// A line for each setting, also of methods that have no best one.
    pub fn csv(&self) -> String {
        let methods = self.methods.iter().map(|m| Lines {
            method: &m.method,
            values: &m.values,
            best: Some(m.best),
            settings: &m.settings,
        });
        let without = self.without_best.iter().map(|m| Lines {
            method: &m.method,
            values: &m.values,
            best: None,
            settings: &m.settings,
        });
        let methods: Vec<Lines> = methods.chain(without).collect();
        let all = || methods.iter().flat_map(|m| m.settings.iter().map(move |s| (m, s)));
        let mut names: Vec<&String> = Vec::new();
        for (method, setting) in all() {
            for name in method.values.keys().chain(setting.values.keys()) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let mut text = String::from("method,setting");
        names.iter().for_each(|name| text.extend([",", &csv::text(name)]));
        text.push_str(",runs,diverged,final_mean,final_standard_error,final_interquartile_mean,area_mean,");
        text.push_str("area_standard_error,area_interquartile_mean,probability_best,best\n");
        for (method, setting) in all() {
            let _ = write!(text, "{},{}", csv::text(method.method), setting.setting);
            for name in &names {
                let value = setting.values.get(*name).or_else(|| method.values.get(*name));
                let value = value.map_or_else(String::new, cell);
                text.extend([",", &value]);
            }
            let _ = write!(text, ",{},{}", setting.runs, setting.at_end.diverged);
            for s in [&setting.at_end, &setting.area] {
                for x in [s.mean, s.standard_error, s.interquartile_mean] {
                    text.push(',');
                    text.push_str(&x.map_or_else(String::new, csv::number));
                }
            }
            let probability = method.best.map_or_else(String::new, |_| setting.probability_best.to_string());
            let _ = writeln!(text, ",{probability},{}", method.best == Some(setting.setting));
        }
        text
    }
}

/// The settings of a method, as lines of CSV.
struct Lines<'a> {
    method: &'a str,
    values: &'a Map<String, Value>,
    best: Option<usize>,
    settings: &'a [SettingSummary],
}

impl FixedPoint {
    /// Its error, and whether it is stable.
    fn cells(&self) -> [String; 2] {
        let stable = match (self.stable, self.runs) {
            (None, _) => String::new(),
            (Some(0), _) => "no".to_owned(),
            (Some(stable), runs) if stable == runs => "yes".to_owned(),
            (Some(stable), runs) => format!("{stable} of {runs} runs"),
        };
        [number(self.error), stable]
    }
}

/// A quantity with its article.
pub(super) fn indefinite(quantity: &str) -> String {
    match quantity {
        "objective" => "an objective".to_owned(),
        _ if quantity.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an `{quantity}`"),
        _ => format!("a `{quantity}`"),
    }
}

/// A standard error: what is not seen in four decimals does not matter beside its mean.
fn error(x: Option<f64>) -> String {
    x.map_or_else(String::new, |x| if x.abs() < 5e-5 { "0.0000".to_owned() } else { decimal(x) })
}

fn number(x: Option<f64>) -> String {
    x.map_or_else(String::new, decimal)
}

/// Four decimals, or four digits where they would be lost among hundreds or be zeros.
fn decimal(x: f64) -> String {
    let is_plain = x == 0.0 || (5e-5..1e9).contains(&x.abs());
    if is_plain { format!("{x:.4}") } else { format!("{x:.3e}") }
}

fn pairs(values: &Map<String, Value>) -> String {
    let pair = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name} = {}", shortened(&value, LONGEST_VALUE))
    };
    values.iter().map(pair).collect::<Vec<_>>().join(", ")
}

pub(crate) fn label(method: &str, values: &Map<String, Value>) -> String {
    let method = shortened(method, LONGEST_NAME);
    if values.is_empty() { method } else { format!("{method} ({})", pairs(values)) }
}

/// A value as a cell: numbers as they are, everything else as text.
fn cell(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), csv::number),
        Value::String(text) => csv::text(text),
        other => csv::text(&other.to_string()),
    }
}
