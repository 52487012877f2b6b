//! How well each setting did in each of its runs, and the groups of settings among which the best is chosen.

use super::Statistics;
use crate::experiment::{Cell, Experiment, Judged};
use crate::experiment_file::Select;
use crate::measure::Goal;
use crate::runs::{self, Run};
use crate::statistics::{Bootstrap, area, choose, interquartile_mean, mean, rank, standard_error};
use crate::store::{Kind, StoreError, View, chosen_settings};
use emphatic_text::exact_number;
use std::collections::{BTreeSet, HashMap};

/// The settings that are to have runs of a kind, in ascending order: the best of each method, by each quantity that settings are judged by. Which is better may
/// change with every run; as long as the settings are the same, so are their blocks.
pub(crate) fn chosen(experiment: &Experiment, view: &View, kind: Kind) -> Result<Vec<usize>, StoreError> {
    judged_by(experiment, None)?;
    let mut chosen = BTreeSet::new();
    for Judged { column, goal } in &experiment.judged_by {
        let scores = match kind {
            Kind::Finalists => Scores::read(experiment, view, Kind::Results, column)?,
            _ => Scores::to_choose_by(experiment, view, column)?,
        };
        for group in groups(experiment) {
            let comparison = scores.comparison(scores.contenders(&group), experiment.select, *goal);
            match kind {
                Kind::Finalists => chosen.extend(comparison.best(experiment.finalists as usize)),
                _ => chosen.extend(comparison.best_one()),
            }
        }
    }
    Ok(chosen.into_iter().collect())
}

/// Returns one setting of each method and how many of its settings are chosen, at most, if so many are chosen by each quantity.
pub(crate) fn choices(experiment: &Experiment, of_each: usize) -> Vec<(usize, usize)> {
    let most = of_each * experiment.judged_by.len();
    let choice = |group: &Group| Some((*group.settings.first()?, most.min(group.settings.len())));
    groups(experiment).iter().filter_map(choice).collect()
}

/// Returns what settings are judged by: the first quantity that the experiment names, or the one that is asked for.
pub(super) fn judged_by<'a>(
    experiment: &'a Experiment,
    asked: Option<&str>,
) -> Result<&'a Judged, StoreError> {
    let first = experiment.judged_by.first().ok_or(StoreError::NoObjective)?;
    let Some(asked) = asked else { return Ok(first) };
    experiment.judged_by.iter().find(|judged| judged.column == asked).ok_or_else(|| StoreError::NotJudgedBy {
        quantity: asked.to_owned(),
        judged_by: experiment.judged_by.iter().map(|judged| judged.column.clone()).collect(),
    })
}

/// Settings among which the best is chosen.
pub(super) struct Group<'a> {
    pub(super) method: usize,
    /// What distinguishes it from other groups of the same method.
    pub(super) values: Vec<(&'a str, Cell)>,
    pub(super) settings: Vec<usize>,
}

/// Groups settings of the same method, in the same problem, with the same separate values.
pub(super) fn groups(experiment: &Experiment) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_key: HashMap<String, usize> = HashMap::new();
    let of_problems = experiment.distinguishing_columns();
    for setting in 0..experiment.settings() {
        let method = experiment.method_of(setting);
        let separate = &experiment.methods[method].separate;
        let distinguishes =
            |name: &str| of_problems.contains(&name) || separate.iter().any(|key| key == name);
        let cells = experiment.cells(setting).into_iter();
        let values: Vec<_> = cells.filter(|(name, _)| distinguishes(name)).collect();
        let ordinals: Vec<usize> = separate.iter().map(|key| experiment.ordinal(setting, key)).collect();
        let key = format!("{method} {values:?} {ordinals:?}");
        let number = *by_key.entry(key).or_insert_with(|| {
            groups.push(Group { method, values, settings: Vec::new() });
            groups.len() - 1
        });
        groups[number].settings.push(setting);
    }
    name_apart(experiment, &mut groups);
    groups
}

/// Adds to groups of one name, which have parts of the same kind, the values of these parts in which they differ.
fn name_apart<'a>(experiment: &'a Experiment, groups: &mut [Group<'a>]) {
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        by_name.entry(format!("{} {:?}", group.method, group.values)).or_default().push(number);
    }
    for same in by_name.into_values().filter(|same| same.len() > 1) {
        for key in &experiment.methods[groups[same[0]].method].separate {
            let values: Vec<_> = same.iter().map(|k| values_in_part(experiment, &groups[*k], key)).collect();
            for (&number, own) in same.iter().zip(&values) {
                let differs = |value: &&(&str, Cell)| !values.iter().all(|other| other.contains(value));
                let names = &mut groups[number].values;
                let place = names.iter().position(|(name, _)| name == key).map_or(names.len(), |k| k + 1);
                let new: Vec<_> = own.iter().filter(differs).cloned().collect();
                names.splice(place..place, new);
            }
        }
    }
}

/// The values that the settings of a group have in the part of a column; of several, a list.
fn values_in_part<'a>(experiment: &'a Experiment, group: &Group, column: &str) -> Vec<(&'a str, Cell)> {
    let mut values: Vec<(&str, Vec<Cell>)> = Vec::new();
    for &setting in &group.settings {
        let cells = experiment.cells(setting);
        for name in experiment.names_in_part(setting, column) {
            let Some((_, cell)) = cells.iter().find(|(known, _)| *known == name) else { continue };
            match values.iter_mut().find(|(known, _)| *known == name) {
                Some((_, list)) if list.contains(cell) => {}
                Some((_, list)) => list.push(cell.clone()),
                None => values.push((name, vec![cell.clone()])),
            }
        }
    }
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(x) => exact_number(*x),
    };
    let one = |list: Vec<Cell>| match &list[..] {
        [cell] => cell.clone(),
        _ => Cell::Text(format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(", "))),
    };
    values.into_iter().map(|(name, list)| (name, one(list))).collect()
}

/// How well one setting did in one run.
#[derive(Clone, Copy)]
pub(super) struct Score {
    pub(super) run: u32,
    /// The quantity at the end; `None` if the run diverged.
    last: Option<f64>,
    /// The average quantity; `None` if the run diverged.
    area: Option<f64>,
    pub(super) diverged: bool,
}

impl Score {
    fn of(run: &Run) -> Self {
        // A mean over the steps of a run has no value before the first of them.
        let start = usize::from(run.values.first().is_some_and(Option::is_none));
        let points: Vec<f64> = run.at[start..].iter().map(|at| *at as f64).collect();
        let values: Option<Vec<f64>> = run.values[start..].iter().copied().collect();
        Self {
            run: run.run,
            last: run.last(),
            area: values.and_then(|values| area(&points, &values)),
            diverged: run.diverged,
        }
    }

    pub(super) fn by(&self, select: Select) -> Option<f64> {
        match select {
            Select::Final => self.last,
            Select::Area => self.area,
        }
    }
}

/// The scores of each setting, in order of runs.
pub(super) struct Scores {
    by_setting: HashMap<usize, Vec<Score>>,
    /// The settings that have more runs than the others, among which the best is chosen; none if all have the same.
    finalists: BTreeSet<usize>,
}

/// Settings, the runs that all of them have, and their scores in them.
pub(super) struct Comparison {
    pub(super) settings: Vec<usize>,
    pub(super) runs: Vec<u32>,
    /// By setting, then by run. The largest are the best: errors are negative here.
    pub(super) scores: Vec<Vec<Option<f64>>>,
}

impl Comparison {
    /// The best setting; `None` if no run of any has a value.
    pub(super) fn best_one(&self) -> Option<usize> {
        choose(&self.scores).map(|k| self.settings[k])
    }

    /// So many of the best settings, best first. Those without a value are left out.
    fn best(&self, count: usize) -> Vec<usize> {
        let has_value = |k: &usize| self.scores[*k].iter().flatten().any(|score| !score.is_nan());
        let best = rank(&self.scores).into_iter().take_while(has_value).take(count);
        best.map(|k| self.settings[k]).collect()
    }
}

impl Scores {
    /// Reads a quantity of all runs of a kind.
    pub(super) fn read(
        experiment: &Experiment,
        view: &View,
        kind: Kind,
        quantity: &str,
    ) -> Result<Self, StoreError> {
        let mut scores = Self { by_setting: HashMap::new(), finalists: BTreeSet::new() };
        scores.add(experiment, view, kind, quantity)?;
        Ok(scores)
    }

    /// Reads a quantity of the runs that settings are chosen by: those that all have, and those of finalists.
    pub(super) fn to_choose_by(
        experiment: &Experiment,
        view: &View,
        quantity: &str,
    ) -> Result<Self, StoreError> {
        let mut scores = Self::read(experiment, view, Kind::Results, quantity)?;
        if experiment.finalist_runs > 0 {
            scores.finalists = chosen_settings(view, Kind::Finalists).into_iter().collect();
            scores.add(experiment, view, Kind::Finalists, quantity)?;
        }
        Ok(scores)
    }

    fn add(
        &mut self,
        experiment: &Experiment,
        view: &View,
        kind: Kind,
        quantity: &str,
    ) -> Result<(), StoreError> {
        for stored in view.units(kind) {
            for run in runs::of_unit(experiment, stored, quantity)? {
                let score = Score { run: runs::number_beside_others(kind, run.run), ..Score::of(&run) };
                self.by_setting.entry(run.setting).or_default().push(score);
            }
        }
        self.by_setting.values_mut().for_each(|scores| scores.sort_unstable_by_key(|score| score.run));
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_setting.is_empty()
    }

    pub(super) fn of(&self, setting: usize) -> &[Score] {
        self.by_setting.get(&setting).map_or(&[], Vec::as_slice)
    }

    /// The settings of a group among which the best is chosen: its finalists; all if there are none.
    pub(super) fn contenders(&self, group: &Group) -> Vec<usize> {
        let [finalists, others] = self.parted(group);
        if finalists.is_empty() { others } else { finalists }
    }

    /// The settings of a group that are out of the choice.
    pub(super) fn others(&self, group: &Group) -> Vec<usize> {
        let [finalists, others] = self.parted(group);
        if finalists.is_empty() { Vec::new() } else { others }
    }

    /// Returns how many settings of a group are finalists.
    pub(super) fn finalists_of(&self, group: &Group) -> usize {
        self.parted(group)[0].len()
    }

    /// The finalists of a group, and its other settings.
    fn parted(&self, group: &Group) -> [Vec<usize>; 2] {
        let (finalists, others) = group.settings.iter().partition(|setting| self.finalists.contains(setting));
        [finalists, others]
    }

    /// The scores of a setting in some runs.
    fn in_runs(&self, setting: usize, runs: &[u32]) -> impl Iterator<Item = &Score> {
        self.of(setting).iter().filter(|score| runs.binary_search(&score.run).is_ok())
    }

    pub(super) fn comparison(&self, settings: Vec<usize>, select: Select, goal: Goal) -> Comparison {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for &setting in &settings {
            self.of(setting).iter().for_each(|score| *counts.entry(score.run).or_default() += 1);
        }
        let mut runs: Vec<u32> =
            counts.into_iter().filter(|(_, n)| *n == settings.len()).map(|(run, _)| run).collect();
        runs.sort_unstable();
        let signed = |x: f64| if goal == Goal::Smallest { -x } else { x };
        let score = |score: &Score| score.by(select).map(signed);
        let scores = |setting: &usize| self.in_runs(*setting, &runs).map(score).collect();
        Comparison { scores: settings.iter().map(scores).collect(), runs, settings }
    }

    /// Statistics of a setting over some runs.
    pub(super) fn statistics(
        &self,
        setting: usize,
        runs: &[u32],
        select: Select,
        interval: bool,
    ) -> Statistics {
        let scores: Vec<&Score> = self.in_runs(setting, runs).collect();
        let values: Vec<f64> = scores.iter().filter_map(|score| score.by(select)).collect();
        let bootstrap = || Bootstrap::default().interval(&[&values], interquartile_mean);
        Statistics {
            diverged: scores.iter().filter(|score| score.diverged || score.by(select).is_none()).count(),
            mean: mean(&values),
            standard_error: standard_error(&values),
            interquartile_mean: interquartile_mean(&values),
            interval: if interval { bootstrap() } else { None },
        }
    }
}
