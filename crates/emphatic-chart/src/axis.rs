//! Axes: the pixel of each number, and the numbers beside the axis.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Equal differences.
    Linear,
    /// Equal ratios. Numbers that are not positive have no place.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its label, in the markup of labels: "J_μ after learning".
    pub label: String,
    /// The scale.
    pub scale: Scale,
    /// The range that it shows at least; a line beyond it widens it. `None` for the range of the data.
    pub range: Option<(f64, f64)>,
}

/// Larger numbers are as good as infinite: differences of smaller ones are finite.
const HUGE: f64 = 1e300;

impl Scale {
    /// The number, or its logarithm on a logarithmic scale; `None` if it has no place on the axis.
    pub(crate) fn measure(self, value: f64) -> Option<f64> {
        let measured = match self {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::Log => return None,
        };
        (measured.abs() <= HUGE).then_some(measured)
    }
}

/// An axis in pixels: measures (logarithms if the axis is logarithmic) from `low` to `high` are drawn from pixel
/// `from` to pixel `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ruler {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

/// A number beside an axis; a minor one has no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: Option<String>,
}

impl Axis {
    /// The axis from pixel `from` to `to`, with room for its own range and the `needed` values; without a range, also for the
    /// `wanted` ones (the bands) and for a margin, a fraction of the whole, at either end.
    pub(crate) fn ruler(&self, needed: &[f64], wanted: &[f64], margin: f64, (from, to): (f64, f64)) -> Ruler {
        let measure = |&value: &f64| self.scale.measure(value);
        let given = self.range.and_then(|(low, high)| Some([measure(&low)?, measure(&high)?]));
        let wanted = if given.is_some() { &[] } else { wanted };
        let values = needed.iter().chain(wanted).filter_map(measure).chain(given.into_iter().flatten());
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = spread(low, high);
        let margin = if given.is_some() { 0.0 } else { margin * (high - low) };
        Ruler { scale: self.scale, low: low - margin, high: high + margin, from, to }
    }
}

/// The range, made longer if there are no values or if they are all nearly the same.
fn spread(low: f64, high: f64) -> (f64, f64) {
    if low > high {
        return (0.0, 1.0);
    }
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size {
        return (low, high);
    }
    let room = if size > 0.0 { 0.1 * size } else { 1.0 };
    (low - room, high + room)
}

impl Ruler {
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        self.scale.measure(value).map(|measure| self.pixel(measure))
    }

    /// As [`place`](Self::place), but moved to the nearer end if beyond it; to the start if it has no place.
    pub(crate) fn clamped(&self, value: f64) -> f64 {
        let infinite = if value > 0.0 { self.high } else { self.low };
        let measure = self.scale.measure(value).unwrap_or(infinite);
        self.pixel(measure.clamp(self.low, self.high))
    }

    fn pixel(&self, measure: f64) -> f64 {
        self.from + (measure - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The ticks. Labelled ones are at least about `distance` pixels apart.
    pub(crate) fn ticks(&self, distance: f64) -> Vec<Tick> {
        let count = ((self.to - self.from).abs() / distance).max(2.0);
        let decades = self.high.floor() - self.low.ceil() + 1.0;
        match self.scale {
            Scale::Log if decades >= 2.0 => self.decades(count),
            // A few decades: 2 and 5 need labels too. Less than about half a decade: as on a linear axis.
            Scale::Log if self.high - self.low > 0.5 => self.mantissas(),
            Scale::Log => {
                let (low, high) = (10_f64.powf(self.low), 10_f64.powf(self.high));
                linear(low, high, count)
            }
            Scale::Linear => linear(self.low, self.high, count),
        }
    }

    fn decades(&self, count: f64) -> Vec<Tick> {
        let every = ((self.high - self.low) / count).ceil().max(1.0);
        let mut ticks = Vec::new();
        let mut power = (self.low / every).floor() * every;
        while power <= self.high {
            let minor: &[f64] = if every == 1.0 { &[2.0, 5.0] } else { &[] };
            let label = format!("10^{{{}}}", minus(format!("{power}")));
            self.push(&mut ticks, 10_f64.powf(power), Some(label));
            for mantissa in minor {
                self.push(&mut ticks, mantissa * 10_f64.powf(power), None);
            }
            power += every;
        }
        ticks
    }

    fn mantissas(&self) -> Vec<Tick> {
        let mut ticks = Vec::new();
        for power in [self.low.floor(), self.low.floor() + 1.0, self.low.floor() + 2.0] {
            for mantissa in [1.0, 2.0, 5.0] {
                let step = 10_f64.powf(power);
                let value = mantissa * step;
                self.push(&mut ticks, value, Some(number(value, step, value)));
            }
        }
        ticks
    }

    fn push(&self, ticks: &mut Vec<Tick>, at: f64, label: Option<String>) {
        // A little more than the ends: rounding must not lose a tick there.
        let slack = 1e-9 * (self.high - self.low);
        let inside = |measure: f64| (self.low - slack..=self.high + slack).contains(&measure);
        if self.scale.measure(at).is_some_and(inside) {
            ticks.push(Tick { at, label });
        }
    }
}

/// Ticks at steps of 1, 2 or 5 times a power of ten, at most `count` of them.
fn linear(low: f64, high: f64, count: f64) -> Vec<Tick> {
    let rough = (high - low) / count;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .map(|mantissa| mantissa * power)
        .into_iter()
        .find(|&step| step >= rough * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let largest = (first * step).abs().max((last * step).abs());
    // By number, since adding a step to a huge number may not change it.
    let steps = (last - first).clamp(0.0, 100.0) as usize;
    let tick = |index| {
        let at = (first + index as f64) * step;
        Tick { at, label: Some(number(at, step, largest)) }
    };
    (0..=steps).map(tick).collect()
}

/// The label of a number among multiples of `step` up to `largest`.
fn number(value: f64, step: f64, largest: f64) -> String {
    if value.abs() < step / 2.0 {
        return "0".into();
    }
    if !(1e-3..1e7).contains(&largest) {
        let power = largest.log10().floor();
        let unit = 10_f64.powf(power);
        return format!("{}×10^{{{}}}", digits(value / unit, step / unit), minus(format!("{power}")));
    }
    let thousands = largest >= 1e4 || largest >= 5e3 && step >= 1e3;
    if thousands { digits(value / 1e3, step / 1e3) + "k" } else { digits(value, step) }
}

fn digits(value: f64, step: f64) -> String {
    let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
    minus(format!("{value:.decimals$}"))
}

fn minus(number: String) -> String {
    number.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        let axis = Axis { label: String::new(), scale, range: Some((low, high)) };
        let ticks = axis.ruler(&[], &[], 0.05, (0.0, 200.0)).ticks(40.0);
        ticks.into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn decades_are_labelled_and_2_and_5_are_minor() {
        assert_eq!(labels(Scale::Log, 0.01, 1.0), ["10^{−2}", "10^{−1}", "10^{0}"]);
        let axis = Axis { label: String::new(), scale: Scale::Log, range: Some((0.01, 1.0)) };
        let ticks = axis.ruler(&[], &[], 0.0, (0.0, 200.0)).ticks(40.0);
        let minor: Vec<f64> = ticks.iter().filter(|tick| tick.label.is_none()).map(|tick| tick.at).collect();
        assert_eq!(minor, [0.02, 0.05, 0.2, 0.5]);
    }

    #[test]
    fn an_axis_of_few_decades_labels_them_all() {
        assert_eq!(labels(Scale::Log, 0.02, 0.6), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(labels(Scale::Log, 2.0, 4.0), ["2.0", "2.5", "3.0", "3.5", "4.0"]);
    }

    #[test]
    fn many_decades_are_thinned_out() {
        assert!(labels(Scale::Log, 1e-250, 1e250).len() <= 6);
    }

    #[test]
    fn linear_steps_are_1_2_or_5() {
        assert_eq!(labels(Scale::Linear, 0.0, 2000.0), ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(labels(Scale::Linear, 0.0, 50_000.0), ["0", "10k", "20k", "30k", "40k", "50k"]);
        assert_eq!(labels(Scale::Linear, -0.31, 0.3), ["−0.2", "0", "0.2"]);
        assert_eq!(
            labels(Scale::Linear, 0.0, 4e-5),
            ["0", "1×10^{−5}", "2×10^{−5}", "3×10^{−5}", "4×10^{−5}"]
        );
    }

    #[test]
    fn any_numbers_make_a_ruler() {
        let axis = |scale, range| Axis { label: String::new(), scale, range };
        let odd = [f64::NAN, f64::INFINITY, f64::MAX, -1.0, 0.0];
        for scale in [Scale::Linear, Scale::Log] {
            for range in
                [None, Some((f64::NAN, 1.0)), Some((1.0, 1.0)), Some((3.0, 1.0)), Some((-HUGE, HUGE))]
            {
                for values in [&odd[..], &[], &[1.0], &[1.0, 1.0 + 1e-15], &[HUGE, -HUGE]] {
                    let ruler = axis(scale, range).ruler(values, &odd, 0.05, (0.0, 100.0));
                    assert!(ruler.low < ruler.high && (ruler.high - ruler.low).is_finite());
                    assert!(ruler.ticks(30.0).len() < 110);
                    assert!(ruler.ticks(30.0).iter().all(|tick| ruler.place(tick.at).is_some()));
                    assert!(odd.iter().all(|&value| (0.0..=100.0).contains(&ruler.clamped(value))));
                }
            }
        }
    }
}
