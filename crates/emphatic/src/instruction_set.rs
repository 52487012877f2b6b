//! Instruction sets: loops are compiled for each of them, and the best one is chosen when the program runs.

/// An instruction set. Results do not depend on it; speed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// The instructions that every processor of this architecture has.
    Plain,
    /// Four `f64` in a register (x86-64).
    Avx2,
    /// Eight `f64` in a register (x86-64).
    Avx512,
}

impl Isa {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Avx2, Self::Avx512];

    /// Returns the best that this machine has.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|isa| isa.available()).unwrap_or(Self::Plain)
    }

    /// Returns whether this machine has it.
    #[inline]
    pub fn available(self) -> bool {
        match self {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                    && std::arch::is_x86_feature_detected!("avx512cd")
                    && std::arch::is_x86_feature_detected!("avx2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Does some work, compiled for this instruction set, or for the plain one if the machine lacks it.
    ///
    /// The closure and everything it calls must be `#[inline(always)]`: what is not inlined into the function that was compiled for an
    /// instruction set is compiled for the plainest one. The results are the same bits either way.
    ///
    /// ```
    /// use emphatic::{Isa, Lanes};
    /// let x = Lanes([1.0, 2.0, 3.0, 4.0]);
    /// let squares = Isa::best().run(#[inline(always)] || x * x);
    /// assert_eq!(squares, Lanes([1.0, 4.0, 9.0, 16.0]));
    /// ```
    #[inline]
    pub fn run<O>(self, work: impl FnOnce() -> O) -> O {
        self.run_or(
            work,
            #[inline(always)]
            |work| work(),
            |work| work(),
        )
    }

    /// Does some work, compiled for AVX2 if this is that set or a better one, otherwise for the plain set: half the code of [`Isa::run`].
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) fn run_avx2<O>(self, work: impl FnOnce() -> O) -> O {
        #[cfg(target_arch = "x86_64")]
        if self != Self::Plain && Self::Avx2.available() {
            // SAFETY: the machine has this set.
            return unsafe {
                with_avx2(
                    work,
                    #[inline(always)]
                    |work| work(),
                )
            };
        }
        work()
    }

    /// Does some work with an input, or calls `plain` if this is the plain instruction set or the machine lacks it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) fn run_or<I, O>(self, input: I, work: impl FnOnce(I) -> O, plain: impl FnOnce(I) -> O) -> O {
        #[cfg(target_arch = "x86_64")]
        match self {
            // SAFETY: the machine has these sets, which `available` has just asked.
            Self::Avx2 if self.available() => return unsafe { with_avx2(input, work) },
            Self::Avx512 if self.available() => return unsafe { with_avx512(input, work) },
            _ => {}
        }
        plain(input)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<I, O>(input: I, work: impl FnOnce(I) -> O) -> O {
    work(input)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512cd,avx2")]
fn with_avx512<I, O>(input: I, work: impl FnOnce(I) -> O) -> O {
    work(input)
}
