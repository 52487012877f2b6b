//! The grid pattern: a map with walls, or rows and columns with characters put in cells.

use super::{Layout, probability};
use crate::file_error::{Mistake, ValueError};
use crate::located::{Located, span as place_of};
use crate::names::{Key, Keys};
use crate::transitions::{Dynamics, MOST, MOST_TRANSITIONS, Outcome, count, too_many};
use crate::values::{Number, Whole};
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// A grid with walls. Each action moves one cell; a move into a wall or over the edge stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// The cells as characters, a line for each row: `#` is a wall, `.` or a space is free, `S` is free and a place where episodes
    /// start, `G` is a goal; others are described in `cells`. Either this or `rows` and `columns`.
    map: Option<Located<String>>,
    /// The number of rows of a grid without walls.
    rows: Option<Located<Whole>>,
    /// Its number of columns.
    columns: Option<Located<Whole>>,
    /// What is in which cells of a grid given by `rows` and `columns`: `{ G = "r9c9", "#" = ["r4c0", "r4c1"] }`.
    places: Option<Located<BTreeMap<String, Keys>>>,
    /// What the characters mean: `{ L = { reward = -1 }, G = { reward = 1, end = true }, H = { enter = { reward = 1, gamma = 0 } } }`.
    #[serde(default)]
    cells: BTreeMap<String, Located<Cell>>,
    /// With what probability a move goes in one of the other three directions instead, each alike. Left out, it is 0.
    slip: Option<Located<Number>>,
    /// The reward of every step, to which that of the cell is added. Left out, it is 0.
    step_reward: Option<Number>,
}

/// A kind of cell.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cell {
    /// The reward of every action taken in it.
    reward: Option<Number>,
    /// Whether every action taken in it ends the episode.
    #[serde(default)]
    end: bool,
    /// What happens on a move into it from another cell.
    #[serde(default)]
    enter: Enter,
}

/// What happens on a move into a cell.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Enter {
    /// The reward, to which that of the cell that is left is added. Left out, it is 0.
    reward: Option<Number>,
    /// The discount. Left out, it is the file's.
    gamma: Option<Number>,
}

impl Cell {
    fn reward(&self) -> f64 {
        self.reward.map_or(0.0, |r| r.0)
    }
}

impl Enter {
    fn reward(&self) -> f64 {
        self.reward.map_or(0.0, |r| r.0)
    }

    fn gamma(&self) -> Option<f64> {
        self.gamma.map(|gamma| gamma.0)
    }
}

/// An action, and how it changes the row and the column.
struct Move {
    name: &'static str,
    down: isize,
    right: isize,
}

const MOVES: [Move; 4] = [
    Move { name: "up", down: -1, right: 0 },
    Move { name: "right", down: 0, right: 1 },
    Move { name: "down", down: 1, right: 0 },
    Move { name: "left", down: 0, right: -1 },
];

/// The cells that are not walls: each is a state.
#[derive(Default)]
struct FreeCells {
    /// The row and column of each, in ascending order.
    places: Vec<(usize, usize)>,
    kinds: Vec<Cell>,
    /// The numbers of those where episodes start.
    start: Vec<usize>,
}

impl Grid {
    /// `span` is the place of the grid in its file.
    pub(crate) fn dynamics(&self, span: &Range<usize>) -> Result<Dynamics, Mistake> {
        self.check_cells()?;
        let rows = self.rows_of_characters(span)?;
        let slip = probability(self.slip.as_ref(), "slip")?;
        let cells = self.free_cells(rows, span)?;
        let moves = MOVES.len() as u64;
        let transitions = cells.places.len() as u64 * moves * if slip > 0.0 { moves } else { 1 };
        if transitions > MOST_TRANSITIONS {
            return Err(too_many(span, transitions.into()));
        }
        Ok(Dynamics {
            states: cells.places.iter().map(|(r, c)| format!("r{r}c{c}")).collect(),
            actions: MOVES.map(|step| step.name.to_owned()).into(),
            outcomes: self.outcomes(&cells, slip, transitions as usize),
            start: cells.start,
            layout: Layout::Cells(cells.places),
        })
    }

    fn check_cells(&self) -> Result<(), Mistake> {
        if let Some((text, cell)) = self.cells.iter().find(|(text, _)| text.chars().count() != 1) {
            return Err(Mistake::at(&cell.span, format!("`{text}` is not one character"))
                .help("cells = { L = { reward = -1 } } says what the character L means in the map"));
        }
        for Located { value: cell, span } in self.cells.values() {
            if let Some(x) = cell.enter.gamma().filter(|x| !(0.0..=1.0).contains(x)) {
                let message =
                    format!("the `gamma` of entering this cell is {x}; it must lie between 0 and 1");
                return Err(Mistake::at(span, message));
            }
            for (reward, of) in [(cell.reward(), "this cell"), (cell.enter.reward(), "entering this cell")] {
                if !reward.is_finite() {
                    return Err(Mistake::at(span, format!("the reward of {of} is not finite")));
                }
            }
        }
        Ok(())
    }

    /// The characters of each row. They are not collected: a map may be large, and most of it walls.
    fn rows_of_characters(
        &self,
        span: &Range<usize>,
    ) -> Result<Box<dyn Iterator<Item = Cow<'_, str>> + '_>, Mistake> {
        match (&self.map, &self.rows, &self.columns, &self.places) {
            (Some(map), None, None, None) => {
                let lines = map.value.lines().map(str::trim_end).filter(|line| !line.is_empty());
                Ok(Box::new(lines.map(Cow::Borrowed)))
            }
            (None, Some(rows), Some(columns), places) => {
                let (r, c) = (count(rows, "rows")?, count(columns, "columns")?);
                if r.saturating_mul(c) > MOST {
                    let message = format!("{r} rows of {c} columns; at most {MOST} cells are possible");
                    return Err(Mistake::at(&rows.span, message));
                }
                let mut cells = vec![vec!['.'; c as usize]; r as usize];
                if let Some(places) = places {
                    put(&places.value, &mut cells).map_err(|error| places.refuse(error))?;
                }
                Ok(Box::new(cells.into_iter().map(|row| row.into_iter().collect())))
            }
            _ => Err(Mistake::at(span, "a grid has either a `map`, or `rows` and `columns`")
                .help("map = \"\"\"\\n#####\\n#S.G#\\n#####\\n\"\"\"  or  rows = 10, columns = 10, places = { G = \"r9c9\" }")),
        }
    }

    fn free_cells<'a>(
        &self,
        rows: impl Iterator<Item = Cow<'a, str>>,
        span: &Range<usize>,
    ) -> Result<FreeCells, Mistake> {
        let place = place_of(&self.map).unwrap_or(span.clone());
        let mut cells = FreeCells::default();
        for (r, row) in rows.enumerate() {
            for (c, character) in row.chars().enumerate() {
                let Some(kind) = self.kind(character, (r, c), span)? else { continue };
                if cells.places.len() as u64 == MOST {
                    let message = format!("at most {MOST} cells that are not walls are possible");
                    return Err(Mistake::at(&place, message));
                }
                cells.start.extend((character == 'S').then_some(cells.places.len()));
                cells.places.push((r, c));
                cells.kinds.push(kind);
            }
        }
        if cells.places.is_empty() {
            return Err(
                Mistake::at(&place, "the grid has no cell that is not a wall").help("`.` is a free cell")
            );
        }
        Ok(cells)
    }

    /// The meaning of a character; `None` for a wall.
    fn kind(
        &self,
        character: char,
        (r, c): (usize, usize),
        span: &Range<usize>,
    ) -> Result<Option<Cell>, Mistake> {
        if let Some(cell) = self.cells.get(character.encode_utf8(&mut [0; 4]) as &str) {
            return Ok(Some(cell.value));
        }
        match character {
            '#' => Ok(None),
            '.' | ' ' | 'S' => Ok(Some(Cell::default())),
            'G' => Ok(Some(Cell { reward: Some(Number(1.0)), end: true, ..Cell::default() })),
            _ => {
                let place = place_of(&self.map).or(place_of(&self.places)).unwrap_or(span.clone());
                Err(Mistake::at(&place, format!("it is not said what `{character}` means, in r{r}c{c}")).help(format!(
                    "`#` is a wall, `.` is free, `S` a start, `G` a goal; or describe it: cells = {{ {character} = {{ reward = -1 }} }}"
                )))
            }
        }
    }

    fn outcomes(&self, cells: &FreeCells, slip: f64, capacity: usize) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(capacity);
        for (from, kind) in cells.kinds.iter().enumerate() {
            let reward = kind.reward() + self.step_reward.map_or(0.0, |r| r.0);
            for action in 0..MOVES.len() {
                if kind.end {
                    outcomes.push(Outcome { from, action, to: None, probability: 1.0, reward, gamma: None });
                    continue;
                }
                for (k, step) in MOVES.iter().enumerate() {
                    let probability = if k == action { 1.0 - slip } else { slip / 3.0 };
                    if probability > 0.0 {
                        let to = cells.after(from, step);
                        // A move that stays enters nothing.
                        let enter = if to == from { Enter::default() } else { cells.kinds[to].enter };
                        let (reward, gamma) = (reward + enter.reward(), enter.gamma());
                        outcomes.push(Outcome { from, action, to: Some(to), probability, reward, gamma });
                    }
                }
            }
        }
        outcomes
    }
}

impl FreeCells {
    /// The cell after a move: the same one if a wall or the edge is in the way.
    fn after(&self, from: usize, step: &Move) -> usize {
        let (r, c) = self.places[from];
        let next = r.checked_add_signed(step.down).zip(c.checked_add_signed(step.right));
        next.and_then(|place| self.places.binary_search(&place).ok()).unwrap_or(from)
    }
}

/// Puts characters in cells.
fn put(places: &BTreeMap<String, Keys>, cells: &mut [Vec<char>]) -> Result<(), ValueError> {
    for (text, keys) in places {
        let mut characters = text.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            return Err(ValueError::new(format!("`{text}` is not one character"))
                .help("places = { G = \"r9c9\" } puts the character G there"));
        };
        for key in keys.as_slice() {
            let cell = row_and_column(key).and_then(|(r, c)| cells.get_mut(r)?.get_mut(c));
            *cell.ok_or_else(|| no_cell(key))? = character;
        }
    }
    Ok(())
}

/// The row and column of a cell's name.
fn row_and_column(key: &Key) -> Option<(usize, usize)> {
    let Key::Name(name) = key else { return None };
    let (row, column) = name.strip_prefix('r')?.split_once('c')?;
    Some((row.parse().ok()?, column.parse().ok()?))
}

fn no_cell(key: &Key) -> ValueError {
    let shown = match key {
        Key::Name(name) => format!("`{name}`"),
        Key::Number(number) => format!("number {number}"),
    };
    ValueError::new(format!("there is no cell {shown}"))
        .help("cells are called r0c0, r0c1 and so on, by row and column from 0")
}
