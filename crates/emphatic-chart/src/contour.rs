//! The regions where a function on a grid is at least as large as a level, by marching squares.

use std::collections::BTreeMap;

use crate::axis::Scale;

type Place = (f64, f64);

/// Values over the unit square, row by row from the bottom, at equally spaced points. Around the square, in its
/// holes and where a row ends early, the function is lower than any number.
pub(crate) struct Grid<'a> {
    rows: &'a [Vec<f64>],
    columns: usize,
}

/// The edge between a node and the next one, to the right or upwards. Nodes are counted from one to the left of the square
/// and one below it: the nodes around the square close every outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    column: usize,
    row: usize,
    upwards: bool,
}

impl<'a> Grid<'a> {
    pub(crate) fn new(rows: &'a [Vec<f64>]) -> Self {
        Self { rows, columns: rows.iter().map(Vec::len).max().unwrap_or(0) }
    }

    /// All values that are not holes.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().flatten().filter_map(|&value| Scale::Linear.measure(value))
    }

    /// The outlines of the region where the function is at least `level`, which lies to their left.
    pub(crate) fn region(&self, level: f64) -> Vec<Vec<Place>> {
        if self.columns < 2 || self.rows.len() < 2 {
            return Vec::new();
        }
        let mut next = BTreeMap::new();
        for row in 0..=self.rows.len() {
            for column in 0..=self.columns {
                next.extend(self.steps(column, row, level));
            }
        }
        let mut outlines = Vec::new();
        while let Some((start, mut edge)) = next.pop_first() {
            let mut outline = vec![self.crossing(start, level)];
            // Back at the start there is no next edge.
            while let Some(after) = next.remove(&edge) {
                outline.push(self.crossing(edge, level));
                edge = after;
            }
            outline.dedup();
            outlines.push(outline);
        }
        outlines
    }

    /// The steps of outlines, from edge to edge, through the cell with this node at its lower left.
    fn steps(&self, column: usize, row: usize, level: f64) -> Vec<(Edge, Edge)> {
        // Counterclockwise, as are the edges: each from the node of its number.
        let nodes = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)];
        let values = nodes.map(|(column, row)| self.value(column, row));
        let inside = values.map(|value| value >= level);
        let edges = [
            Edge { column, row, upwards: false },
            Edge { column: column + 1, row, upwards: true },
            Edge { column, row: row + 1, upwards: false },
            Edge { column, row, upwards: true },
        ];
        let leaves = |edge: usize| inside[edge] && !inside[(edge + 1) % 4];
        let enters = |edge: &usize| !inside[*edge] && inside[(*edge + 1) % 4];
        // At a saddle, the value in the middle decides whether the region is connected there.
        let connected = values.map(|value| value / 4.0).iter().sum::<f64>() >= level;
        let partner = |edge: usize| {
            let turn = |by| (edge + if connected { by } else { 4 - by }) % 4;
            (1..4).map(turn).find(enters)
        };
        let step = |edge| Some((edges[edge], edges[partner(edge)?]));
        (0..4).filter(|&edge| leaves(edge)).filter_map(step).collect()
    }

    fn value(&self, column: usize, row: usize) -> f64 {
        let value = column.checked_sub(1).zip(row.checked_sub(1)).and_then(|(column, row)| {
            self.rows.get(row)?.get(column).and_then(|&value| Scale::Linear.measure(value))
        });
        value.unwrap_or(f64::NEG_INFINITY)
    }

    /// Where the function crosses the level; next to a hole, the node that has a value.
    fn crossing(&self, Edge { column, row, upwards }: Edge, level: f64) -> Place {
        let (low, high) = ((column, row), if upwards { (column, row + 1) } else { (column + 1, row) });
        let (mut inside, mut outside) = (low, high);
        if self.value(low.0, low.1) < level {
            (inside, outside) = (high, low);
        }
        let (above, under) = (self.value(inside.0, inside.1), self.value(outside.0, outside.1));
        let part = if under == f64::NEG_INFINITY { 0.0 } else { (above - level) / (above - under) };
        let between = |from: usize, to: usize, count: usize| {
            (from as f64 - 1.0 + part * (to as f64 - from as f64)) / (count as f64 - 1.0)
        };
        (between(inside.0, outside.0, self.columns), between(inside.1, outside.1, self.rows.len()))
    }
}

/// The fewest of these points whose line is nowhere farther than `tolerance` from all of them. The ends stay.
pub(crate) fn thinned(places: &[Place], tolerance: f64) -> Vec<Place> {
    let Some(last) = places.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![0, last];
    let mut stretches = vec![(0, last)];
    while let Some((from, to)) = stretches.pop() {
        let off = |index: &usize| distance(places[*index], places[from], places[to]);
        let farthest = (from + 1..to).max_by(|a, b| off(a).total_cmp(&off(b)));
        if let Some(middle) = farthest.filter(|index| off(index) > tolerance) {
            kept.push(middle);
            stretches.extend([(from, middle), (middle, to)]);
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| places[index]).collect()
}

/// The distance of a point from the straight line between two others.
fn distance(place: Place, from: Place, to: Place) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (place.0 - from.0, place.1 - from.1);
    let length = dx * dx + dy * dy;
    let part = if length > 0.0 { ((x * dx + y * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    (x - part * dx).hypot(y - part * dy)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The values of a function on the unit square.
    pub(crate) fn grid(size: usize, height: impl Fn(f64, f64) -> f64) -> Vec<Vec<f64>> {
        let at = |index: usize| index as f64 / (size.max(2) - 1) as f64;
        (0..size).map(|row| (0..size).map(|column| height(at(column), at(row))).collect()).collect()
    }

    /// By the shoelace formula; the area of holes is subtracted.
    fn area(outlines: &[Vec<Place>]) -> f64 {
        let cross = |(a, b): (&Place, &Place)| (a.0 * b.1 - b.0 * a.1) / 2.0;
        let one = |outline: &Vec<Place>| -> f64 {
            outline.iter().zip(outline.iter().cycle().skip(1)).map(cross).sum()
        };
        outlines.iter().map(one).sum()
    }

    #[test]
    fn a_plane_is_cut_along_the_diagonal() {
        let rows = grid(5, |x, y| x + y);
        let outlines = Grid::new(&rows).region(1.0);
        assert_eq!(outlines.len(), 1);
        for place in [(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (1.0, 0.0)] {
            assert!(outlines[0].contains(&place));
        }
        assert!(outlines[0].iter().all(|(x, y)| x + y == 1.0 || *x == 1.0 || *y == 1.0));
        assert_eq!(area(&outlines), 0.5);
    }

    #[test]
    fn a_cone_has_the_area_of_its_disc() {
        let rows = grid(101, |x, y| 1.0 - 2.0 * (x - 0.5).hypot(y - 0.5));
        let outlines = Grid::new(&rows).region(0.5);
        let disc = std::f64::consts::PI / 16.0;
        assert!((area(&outlines) / disc - 1.0).abs() < 0.01);
        // Upside down, the disc is a hole.
        let rows = grid(101, |x, y| 2.0 * (x - 0.5).hypot(y - 0.5));
        let outlines = Grid::new(&rows).region(0.5);
        assert_eq!(outlines.len(), 2);
        assert!((area(&outlines) - (1.0 - disc)).abs() < 0.01 * disc);
    }

    #[test]
    fn the_middle_of_a_saddle_decides() {
        let of = |corners: [f64; 2]| vec![vec![corners[0], corners[1]], vec![corners[1], corners[0]]];
        assert_eq!(Grid::new(&of([1.0, 0.0])).region(0.75).len(), 2);
        assert_eq!(Grid::new(&of([1.0, 0.0])).region(0.25).len(), 1);
        // Two triangles of half a quarter, and all but as much.
        assert_eq!(area(&Grid::new(&of([1.0, 0.0])).region(0.75)), 0.0625);
        assert_eq!(area(&Grid::new(&of([1.0, 0.0])).region(0.25)), 0.9375);
    }

    #[test]
    fn a_hole_is_left_out() {
        let mut rows = grid(5, |_, _| 2.0);
        assert_eq!(area(&Grid::new(&rows).region(2.0)), 1.0);
        assert_eq!(area(&Grid::new(&rows).region(2.1)), 0.0);
        for hole in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            rows[2][2] = hole;
            // The four triangles around it, of half a cell each.
            assert_eq!(area(&Grid::new(&rows).region(1.0)), 1.0 - 4.0 * 0.5 / 16.0);
        }
    }

    #[test]
    fn too_few_values_have_no_area() {
        let ragged = vec![vec![1.0, 1.0, 1.0], vec![1.0, 1.0], vec![]];
        assert_eq!(area(&Grid::new(&ragged).region(0.0)), 0.25 + 0.125);
        for rows in [vec![], vec![vec![]], vec![vec![1.0]], vec![vec![1.0, 1.0]], vec![vec![1.0]; 3]] {
            assert_eq!(Grid::new(&rows).region(0.0), Vec::<Vec<Place>>::new());
        }
    }

    #[test]
    fn thinning_keeps_the_ends_and_the_corners() {
        let places = [(0.0, 0.0), (0.1, 0.0), (5.0, 0.05), (9.0, 0.0), (9.0, 4.0), (9.0, 7.0)];
        assert_eq!(thinned(&places, 0.1), [(0.0, 0.0), (9.0, 0.0), (9.0, 7.0)]);
        assert_eq!(thinned(&places[..1], 0.1), [(0.0, 0.0)]);
        assert_eq!(thinned(&[], 0.1), []);
        // All in one place: the start is the end.
        assert_eq!(thinned(&[(1.0, 1.0); 3], 0.1), [(1.0, 1.0), (1.0, 1.0)]);
        let round: Vec<Place> = (0..=100).map(|i| f64::from(i) * 0.1).map(|t| (t.cos(), t.sin())).collect();
        let few = thinned(&round, 0.01);
        assert!(few.len() < 60 && few[0] == round[0] && few.last() == round.last());
    }
}
