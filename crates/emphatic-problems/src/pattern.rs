//! Regular problems, from which all transitions follow: a grid with walls, a chain, a random problem.

use crate::file_error::Mistake;
use crate::values::{Key, Keys, Number, Whole};
use emphatic::Random;
use emphatic::theory::Order;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// The most states or actions of a problem.
const MOST: u64 = 1_000_000;

/// The most transitions of a problem, each outcome of each action in each state being one. So many take about two gigabytes.
pub(crate) const MOST_TRANSITIONS: u64 = 10_000_000;

/// What a problem is made of, by numbers.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) states: Vec<String>,
    pub(crate) actions: Vec<String>,
    pub(crate) transitions: Vec<Way>,
    /// Where episodes start, if nothing else is said.
    pub(crate) start: Vec<usize>,
    pub(crate) layout: Layout,
}

/// One way in which an action can turn out; without `to` the episode ends.
pub(crate) struct Way {
    pub(crate) from: usize,
    pub(crate) action: usize,
    pub(crate) to: Option<usize>,
    pub(crate) probability: f64,
    pub(crate) reward: f64,
    /// The file's, if nothing.
    pub(crate) gamma: Option<f64>,
}

/// Where states lie, so that neighbours can be put together.
#[derive(Default)]
pub(crate) enum Layout {
    /// They lie nowhere.
    #[default]
    None,
    /// One after the other.
    Line,
    /// The row and column of each.
    Cells(Vec<(usize, usize)>),
}

impl Layout {
    /// The group of each of `n` states if `size` neighbours (`size` × `size` cells) are put together.
    pub(crate) fn blocks(&self, n: usize, size: usize) -> Option<Vec<usize>> {
        let place: Box<dyn Fn(usize) -> (usize, usize)> = match self {
            Self::None => return None,
            Self::Line => Box::new(|s| (0, s / size)),
            Self::Cells(cells) => Box::new(|s| (cells[s].0 / size, cells[s].1 / size)),
        };
        let mut numbers = BTreeMap::new();
        let number = |s| {
            let next = numbers.len();
            *numbers.entry(place(s)).or_insert(next)
        };
        Some((0..n).map(number).collect())
    }
}

/// A grid with walls. Each action moves one cell; a move into a wall or over the edge stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// The cells as characters, a line for each row: `#` is a wall, `.` or a space is free, `S` is free and a place where episodes
    /// start, `G` is a goal; others are described in `cells`. Either this or `rows` and `columns`.
    #[schemars(with = "Option<String>")]
    map: Option<Spanned<String>>,
    /// The number of rows of a grid without walls.
    #[schemars(with = "Option<Whole>")]
    rows: Option<Spanned<Whole>>,
    /// Its number of columns.
    #[schemars(with = "Option<Whole>")]
    columns: Option<Spanned<Whole>>,
    /// What is in which cells of a grid given by `rows` and `columns`: `{ G = "r9c9", "#" = ["r4c0", "r4c1"] }`.
    #[schemars(with = "Option<BTreeMap<String, Keys>>")]
    places: Option<Spanned<BTreeMap<String, Keys>>>,
    /// What the characters mean: `{ L = { reward = -1 }, G = { reward = 1, end = true } }`.
    #[schemars(with = "BTreeMap<String, Cell>")]
    #[serde(default)]
    cells: BTreeMap<String, Spanned<Cell>>,
    /// With what probability a move goes in one of the other three directions instead, each alike. Left out, it is 0.
    #[schemars(with = "Option<Number>")]
    slip: Option<Spanned<Number>>,
    /// The reward of every step, to which that of the cell is added. Left out, it is 0.
    step_reward: Option<Number>,
}

/// A kind of cell.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    /// The reward of every action taken in it.
    reward: Option<Number>,
    /// Whether every action taken in it ends the episode.
    #[serde(default)]
    end: bool,
}

/// The actions of a grid, with the change of row and column.
const MOVES: [(&str, isize, isize); 4] = [("up", -1, 0), ("right", 0, 1), ("down", 1, 0), ("left", 0, -1)];

impl Grid {
    pub(crate) fn parts(&self, span: &Range<usize>) -> Result<Parts, Mistake> {
        if let Some((text, cell)) = self.cells.iter().find(|(text, _)| text.chars().count() != 1) {
            return Err(Mistake::at(&cell.span(), format!("`{text}` is not one character"))
                .help("cells = { L = { reward = -1 } } says what the character L means in the map"));
        }
        let infinite = |cell: &&Spanned<Cell>| cell.get_ref().reward.is_some_and(|r| !r.0.is_finite());
        if let Some(cell) = self.cells.values().find(infinite) {
            return Err(Mistake::at(&cell.span(), "the reward of this cell is not finite"));
        }
        let rows = self.characters(span)?;
        let slip = probability(self.slip.as_ref(), "slip")?;
        let place = self.map.as_ref().map_or(span.clone(), Spanned::span);
        let (mut cells, mut kinds, mut start) = (Vec::new(), Vec::new(), Vec::new());
        for (r, row) in rows.enumerate() {
            for (c, character) in row.chars().enumerate() {
                let Some(kind) = self.kind(character, (r, c), span)? else { continue };
                if cells.len() as u64 == MOST {
                    let message = format!("at most {MOST} cells that are not walls are possible");
                    return Err(Mistake::at(&place, message));
                }
                start.extend((character == 'S').then_some(cells.len()));
                cells.push((r, c));
                kinds.push(kind);
            }
        }
        if cells.is_empty() {
            return Err(
                Mistake::at(&place, "the grid has no cell that is not a wall").help("`.` is a free cell")
            );
        }
        let ways = cells.len() as u64 * MOVES.len() as u64 * if slip > 0.0 { MOVES.len() as u64 } else { 1 };
        if ways > MOST_TRANSITIONS {
            return Err(too_many(span, ways.into()));
        }
        // They were found in ascending order.
        let neighbour = |(r, c): (usize, usize), (_, down, right): (&str, isize, isize)| {
            let place = (r.checked_add_signed(down)?, c.checked_add_signed(right)?);
            cells.binary_search(&place).ok()
        };
        let mut transitions = Vec::with_capacity(ways as usize);
        for (from, &place) in cells.iter().enumerate() {
            let own = kinds[from].reward.map_or(0.0, |r| r.0);
            let reward = own + self.step_reward.map_or(0.0, |r| r.0);
            for action in 0..MOVES.len() {
                let mut push = |to, probability| {
                    transitions.push(Way { from, action, to, probability, reward, gamma: None });
                };
                if kinds[from].end {
                    push(None, 1.0);
                    continue;
                }
                for (k, &direction) in MOVES.iter().enumerate() {
                    let p = if k == action { 1.0 - slip } else { slip / 3.0 };
                    if p > 0.0 {
                        push(Some(neighbour(place, direction).unwrap_or(from)), p);
                    }
                }
            }
        }
        Ok(Parts {
            states: cells.iter().map(|(r, c)| format!("r{r}c{c}")).collect(),
            actions: MOVES.map(|(name, ..)| name.to_owned()).into(),
            transitions,
            start,
            layout: Layout::Cells(cells),
        })
    }

    /// What is in each cell, row by row: a map may be large, and most of it walls.
    fn characters(
        &self,
        span: &Range<usize>,
    ) -> Result<Box<dyn Iterator<Item = Cow<'_, str>> + '_>, Mistake> {
        match (&self.map, &self.rows, &self.columns, &self.places) {
            (Some(map), None, None, None) => {
                let lines = map.get_ref().lines().map(str::trim_end).filter(|line| !line.is_empty());
                Ok(Box::new(lines.map(Cow::Borrowed)))
            }
            (None, Some(rows), Some(columns), places) => {
                let (r, c) = (count(rows, "rows")?, count(columns, "columns")?);
                if r.saturating_mul(c) > MOST {
                    let message = format!("{r} rows of {c} columns; at most {MOST} cells are possible");
                    return Err(Mistake::at(&rows.span(), message));
                }
                let mut cells = vec![vec!['.'; c as usize]; r as usize];
                if let Some(places) = places {
                    put(places, &mut cells).map_err(|(message, help)| Mistake::at(&places.span(), message).help(help))?;
                }
                Ok(Box::new(cells.into_iter().map(|row| row.into_iter().collect())))
            }
            _ => Err(Mistake::at(span, "a grid has either a `map`, or `rows` and `columns`")
                .help("map = \"\"\"\\n#####\\n#S.G#\\n#####\\n\"\"\"  or  rows = 10, columns = 10, places = { G = \"r9c9\" }")),
        }
    }

    /// What a character means; nothing if it is a wall.
    fn kind(
        &self,
        character: char,
        (r, c): (usize, usize),
        span: &Range<usize>,
    ) -> Result<Option<Cell>, Mistake> {
        if let Some(cell) = self.cells.get(character.encode_utf8(&mut [0; 4]) as &str) {
            return Ok(Some(*cell.get_ref()));
        }
        match character {
            '#' => Ok(None),
            '.' | ' ' | 'S' => Ok(Some(Cell::default())),
            'G' => Ok(Some(Cell { reward: Some(Number(1.0)), end: true })),
            _ => {
                let place = self.map.as_ref().map(Spanned::span).or(self.places.as_ref().map(Spanned::span));
                let place = place.unwrap_or(span.clone());
                Err(Mistake::at(&place, format!("it is not said what `{character}` means, in r{r}c{c}")).help(format!(
                    "`#` is a wall, `.` is free, `S` a start, `G` a goal; or describe it: cells = {{ {character} = {{ reward = -1 }} }}"
                )))
            }
        }
    }
}

/// Puts characters in cells.
fn put(
    places: &Spanned<BTreeMap<String, Keys>>,
    cells: &mut [Vec<char>],
) -> Result<(), (String, &'static str)> {
    for (text, keys) in places.get_ref() {
        let mut characters = text.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            let help = "places = { G = \"r9c9\" } puts the character G there";
            return Err((format!("`{text}` is not one character"), help));
        };
        for key in keys.as_slice() {
            let place = cell(key).and_then(|(r, c)| cells.get_mut(r)?.get_mut(c));
            let help = "cells are called r0c0, r0c1 and so on, by row and column from 0";
            *place.ok_or_else(|| (format!("there is no cell {}", shown(key)), help))? = character;
        }
    }
    Ok(())
}

/// The row and column of a cell's name.
fn cell(key: &Key) -> Option<(usize, usize)> {
    let Key::Name(name) = key else { return None };
    let (row, column) = name.strip_prefix('r')?.split_once('c')?;
    Some((row.parse().ok()?, column.parse().ok()?))
}

fn shown(key: &Key) -> String {
    match key {
        Key::Name(name) => format!("`{name}`"),
        Key::Number(number) => format!("number {number}"),
    }
}

/// States in a line, named 0, 1, 2 …; the actions are `left` and `right`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// How many states.
    #[schemars(with = "Whole")]
    states: Spanned<Whole>,
    /// What happens on a step to the left of the first state: `{ end = true, reward = 0 }`. Left out, the step stays there.
    #[serde(default)]
    left: Cell,
    /// What happens on a step to the right of the last state.
    #[serde(default)]
    right: Cell,
    /// With what probability a step goes the other way. Left out, it is 0.
    #[schemars(with = "Option<Number>")]
    slip: Option<Spanned<Number>>,
    /// The reward of every step, to which that of an end is added. Left out, it is 0.
    step_reward: Option<Number>,
}

impl Line {
    pub(crate) fn parts(&self) -> Result<Parts, Mistake> {
        let n = count(&self.states, "states")? as usize;
        let slip = probability(self.slip.as_ref(), "slip")?;
        let step_reward = self.step_reward.map_or(0.0, |r| r.0);
        // Where a step leads, and what it gives.
        let step = |from: usize, right: bool| {
            let (next, over) =
                if right { (from + 1, &self.right) } else { (from.wrapping_sub(1), &self.left) };
            match next < n {
                true => (Some(next), step_reward),
                false => ((!over.end).then_some(from), step_reward + over.reward.map_or(0.0, |r| r.0)),
            }
        };
        let mut transitions = Vec::with_capacity(2 * n);
        for from in 0..n {
            for action in 0..2 {
                for (right, probability) in [(action == 1, 1.0 - slip), (action == 0, slip)] {
                    if probability > 0.0 {
                        let (to, reward) = step(from, right);
                        transitions.push(Way { from, action, to, probability, reward, gamma: None });
                    }
                }
            }
        }
        Ok(Parts {
            states: numbered(n),
            actions: vec!["left".to_owned(), "right".to_owned()],
            transitions,
            start: vec![0],
            layout: Layout::Line,
        })
    }
}

/// A random problem (a Garnet): each action leads to a few random states, with random probabilities and rewards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomProblem {
    /// What the randomness comes from: the same seed gives the same problem everywhere.
    seed: Whole,
    /// How many states, named 0, 1, 2 …
    #[schemars(with = "Whole")]
    states: Spanned<Whole>,
    /// How many actions, named 0, 1, 2 …
    #[schemars(with = "Whole")]
    actions: Spanned<Whole>,
    /// To how many states an action may lead. Left out, it is 3, or all if there are fewer.
    #[schemars(with = "Option<Whole>")]
    branching: Option<Spanned<Whole>>,
    /// With what probability a step ends the episode. Left out, it is 0.
    #[schemars(with = "Option<Number>")]
    end: Option<Spanned<Number>>,
}

impl RandomProblem {
    /// `gamma` is the file's.
    pub(crate) fn parts(&self, gamma: f64) -> Result<Parts, Mistake> {
        let (n, actions) = (count(&self.states, "states")?, count(&self.actions, "actions")?);
        let branching = match &self.branching {
            Some(branching) => count(branching, "branching")?,
            None => n.min(3),
        };
        let end = probability(self.end.as_ref(), "end")?;
        let span = self.branching.as_ref().map_or(self.states.span(), Spanned::span);
        if branching > n {
            let message = format!("an action cannot lead to {branching} of {n} states");
            return Err(Mistake::at(&span, message).help(format!("`branching` lies between 1 and {n} here")));
        }
        let ways = n.saturating_mul(actions).saturating_mul(branching + u64::from(end > 0.0));
        if ways > MOST_TRANSITIONS {
            return Err(too_many(&span, ways.into()));
        }
        // Where nothing is discounted by more than 0, only the behaviour's chain remains, which may take one action.
        let led_to = if gamma == 0.0 { branching } else { branching * actions };
        if end < 1.0 {
            Order::check_random(n as usize, led_to as usize)
                .map_err(|error| Mistake::at(&self.states.span(), error.to_string()))?;
        }
        let mut random = Random::new(self.seed.0, 0);
        let mut transitions = Vec::with_capacity((n * actions * branching) as usize);
        for from in 0..n as usize {
            for action in 0..actions as usize {
                let shares: Vec<f64> = (0..branching).map(|_| 0.1 + random.uniform()).collect();
                let sum: f64 = shares.iter().sum();
                for (to, share) in
                    successors(&mut random, n as usize, branching as usize).into_iter().zip(shares)
                {
                    let probability = (1.0 - end) * share / sum;
                    let reward = random.normal();
                    transitions.push(Way { from, action, to: Some(to), probability, reward, gamma: None });
                }
                if end > 0.0 {
                    let reward = random.normal();
                    transitions.push(Way { from, action, to: None, probability: end, reward, gamma: None });
                }
            }
        }
        Ok(Parts {
            states: numbered(n as usize),
            actions: numbered(actions as usize),
            transitions,
            start: vec![0],
            layout: Layout::None,
        })
    }
}

/// Different states at random (Floyd's way).
fn successors(random: &mut Random, n: usize, many: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(many);
    for last in n - many..n {
        let state = random.below(last + 1);
        chosen.push(if chosen.contains(&state) { last } else { state });
    }
    chosen
}

/// The names 0, 1, 2 …
pub(crate) fn numbered(n: usize) -> Vec<String> {
    (0..n).map(|k| k.to_string()).collect()
}

/// A number of states, actions and such.
pub(crate) fn count(value: &Spanned<Whole>, key: &str) -> Result<u64, Mistake> {
    let Whole(x) = *value.get_ref();
    if (1..=MOST).contains(&x) {
        return Ok(x);
    }
    Err(Mistake::at(&value.span(), format!("`{key}` is {x}; it must lie between 1 and {MOST}")))
}

/// The length of a list of states or actions.
pub(crate) fn length<T>(list: &[T], span: &Range<usize>, key: &str) -> Result<u64, Mistake> {
    match list.len() as u64 {
        n if n <= MOST => Ok(n),
        n => Err(Mistake::at(span, format!("`{key}` is a list of {n}; at most {MOST} are possible"))),
    }
}

/// What is wrong with a problem that is too large.
pub(crate) fn too_many(span: &Range<usize>, ways: u128) -> Mistake {
    let message = format!("this makes {ways} transitions; at most {MOST_TRANSITIONS} are possible");
    Mistake::at(span, message)
        .help("each way in which an action can turn out in a state is one, and an end has one for each state of the start")
}

fn probability(value: Option<&Spanned<Number>>, key: &str) -> Result<f64, Mistake> {
    let Some(value) = value else { return Ok(0.0) };
    let Number(x) = *value.get_ref();
    if (0.0..=1.0).contains(&x) {
        return Ok(x);
    }
    Err(Mistake::at(&value.span(), format!("`{key}` is {x}; a probability lies between 0 and 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_put_together() {
        let cells = Layout::Cells(vec![(0, 0), (0, 1), (0, 2), (1, 1), (2, 0)]);
        assert_eq!(cells.blocks(5, 2), Some(vec![0, 0, 1, 0, 2]));
        assert_eq!(Layout::Line.blocks(5, 2), Some(vec![0, 0, 1, 1, 2]));
        assert_eq!(Layout::None.blocks(5, 2), None);
    }

    #[test]
    fn random_successors_are_different_states() {
        let mut random = Random::new(1, 0);
        for _ in 0..100 {
            let mut states = successors(&mut random, 7, 5);
            states.sort_unstable();
            states.dedup();
            assert!(states.len() == 5 && states[4] < 7);
        }
    }
}
