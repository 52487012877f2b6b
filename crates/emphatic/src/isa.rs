//! Which instruction set a loop is compiled for, chosen when the program runs.

/// A piece of work that is compiled once for each instruction set.
///
/// `run` and everything it calls must be `#[inline(always)]`: what is not inlined into the function that was
/// compiled for an instruction set is compiled for the plainest one. The results are the same bits either way.
pub trait Kernel {
    /// What the work gives.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// An instruction set. Results do not depend on it; speed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// What every processor of this architecture has.
    Plain,
    /// Four `f64` in a register (x86-64).
    Avx2,
}

impl Isa {
    /// The best that this machine has.
    pub fn best() -> Self {
        if Self::Avx2.available() { Self::Avx2 } else { Self::Plain }
    }

    /// Whether this machine has it.
    pub fn available(self) -> bool {
        match self {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 => false,
        }
    }

    /// Runs `kernel` compiled for this instruction set, or for the plain one if the machine lacks it.
    #[allow(unsafe_code)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if self == Self::Avx2 && self.available() {
            // SAFETY: the machine has AVX2, which the line above has just asked.
            return unsafe { with_avx2(kernel) };
        }
        kernel.run()
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
