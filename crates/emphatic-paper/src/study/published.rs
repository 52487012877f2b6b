//! What the study reports: outputs stored in its public notebooks, and values that were read off its plots.

use super::{Critic, Interest, Method, Objective};
use Critic::{Etd, Tdrc};
use Interest::{All, Start};
use Method::{Direct, Ideal, OffPac, Trace};
use Objective::{Episodic, Excursions};

/// A published number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Published {
    pub(super) objective: Objective,
    pub(super) critic: Critic,
    pub(super) method: Method,
    pub(super) score: Score,
}

/// What the number is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Score {
    /// The mean over all checkpoints of a run, as printed.
    Mean(f64),
    /// The value at the end of a run, read off a plot.
    End(f64),
}

const fn mean(objective: Objective, critic: Critic, method: Method, score: f64) -> Published {
    Published { objective, critic, method, score: Score::Mean(score) }
}

const fn end(objective: Objective, critic: Critic, method: Method, score: f64) -> Published {
    Published { objective, critic, method, score: Score::End(score) }
}

pub(super) const MOUNTAIN_CAR: [Published; 20] = [
    mean(Episodic, Etd, Trace(Start), -999.6),
    mean(Episodic, Etd, Trace(All), -374.2),
    mean(Episodic, Etd, OffPac, -367.8),
    mean(Episodic, Etd, Direct(Start), -999.3),
    mean(Episodic, Etd, Direct(All), -168.7),
    mean(Episodic, Tdrc, Trace(Start), -999.9),
    mean(Episodic, Tdrc, Trace(All), -311.5),
    mean(Episodic, Tdrc, OffPac, -153.6),
    mean(Episodic, Tdrc, Direct(Start), -991.3),
    mean(Episodic, Tdrc, Direct(All), -154.0),
    mean(Excursions, Etd, Trace(Start), -979.5),
    mean(Excursions, Etd, Trace(All), -295.1),
    mean(Excursions, Etd, OffPac, -255.1),
    mean(Excursions, Etd, Direct(Start), -970.7),
    mean(Excursions, Etd, Direct(All), -114.9),
    mean(Excursions, Tdrc, Trace(Start), -987.7),
    mean(Excursions, Tdrc, Trace(All), -184.8),
    mean(Excursions, Tdrc, OffPac, -99.6),
    mean(Excursions, Tdrc, Direct(Start), -953.9),
    mean(Excursions, Tdrc, Direct(All), -101.2),
];

pub(super) const PUDDLE_WORLD: [Published; 28] = [
    mean(Episodic, Etd, Trace(Start), -1019.0),
    mean(Episodic, Etd, Trace(All), -394.0),
    mean(Episodic, Etd, OffPac, -219.3),
    mean(Episodic, Etd, Direct(Start), -152.2),
    mean(Episodic, Etd, Direct(All), -189.9),
    mean(Episodic, Etd, Ideal(Start), -979.5),
    mean(Episodic, Etd, Ideal(All), -340.3),
    end(Episodic, Tdrc, Direct(All), -53.0),
    end(Episodic, Tdrc, Direct(Start), -105.0),
    end(Episodic, Tdrc, OffPac, -90.0),
    end(Episodic, Tdrc, Ideal(All), -245.0),
    end(Episodic, Tdrc, Trace(All), -300.0),
    end(Episodic, Tdrc, Ideal(Start), -550.0),
    end(Episodic, Tdrc, Trace(Start), -600.0),
    end(Episodic, Etd, Direct(All), -135.0),
    end(Episodic, Etd, Direct(Start), -105.0),
    end(Episodic, Etd, OffPac, -220.0),
    end(Episodic, Etd, Ideal(All), -367.0),
    end(Episodic, Etd, Trace(All), -367.0),
    end(Episodic, Etd, Ideal(Start), -930.0),
    end(Episodic, Etd, Trace(Start), -965.0),
    end(Excursions, Tdrc, Direct(All), -15.0),
    end(Excursions, Tdrc, Direct(Start), -15.0),
    end(Excursions, Tdrc, OffPac, -15.0),
    end(Excursions, Tdrc, Ideal(All), -30.0),
    end(Excursions, Tdrc, Trace(All), -50.0),
    end(Excursions, Tdrc, Ideal(Start), -320.0),
    end(Excursions, Tdrc, Trace(Start), -395.0),
];

pub(super) const VIRTUAL_OFFICE: [Published; 1] = [end(Episodic, Tdrc, OffPac, 0.63)];
