//! A part of a drawing, in pixels.

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Without a strip at the top.
    pub(crate) fn below(self, strip: f64) -> Self {
        Self { top: self.top + strip, height: self.height - strip, ..self }
    }

    /// With more room on all sides.
    pub(crate) fn grown(&self, by: f64) -> Self {
        Self {
            left: self.left - by,
            top: self.top - by,
            width: self.width + 2.0 * by,
            height: self.height + 2.0 * by,
        }
    }

    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.left >= other.left
            && self.top >= other.top
            && self.right() <= other.right()
            && self.bottom() <= other.bottom()
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }

    /// About how much of a line through these points lies inside.
    pub(crate) fn passed(&self, points: &[(f64, f64)]) -> usize {
        const STEPS: usize = 16;
        let inside =
            |(x, y)| (self.left..self.right()).contains(&x) && (self.top..self.bottom()).contains(&y);
        let between = |pair: &[(f64, f64)]| {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let part = |step: usize| step as f64 / STEPS as f64;
            let point = |step| (x0 + part(step) * (x1 - x0), y0 + part(step) * (y1 - y0));
            (0..STEPS).filter(|&step| inside(point(step))).count()
        };
        points.windows(2).map(between).sum::<usize>() + points.iter().filter(|&&point| inside(point)).count()
    }
}
