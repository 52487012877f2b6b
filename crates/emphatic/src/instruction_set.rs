//! Instruction sets: loops are compiled for each of them, and the best one is chosen when the program runs.

/// A piece of work that is compiled once for each instruction set.
///
/// `run` and everything it calls must be `#[inline(always)]`: what is not inlined into the function that was
/// compiled for an instruction set is compiled for the plainest one. The results are the same bits either way.
pub trait Kernel {
    /// The result of the work.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

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

    /// Runs `kernel` compiled for this instruction set, or for the plain one if the machine lacks it.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        self.run_or(kernel, K::run)
    }

    /// Runs `kernel` compiled for this instruction set, or by `plain` if this is the plain one or the machine lacks it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) fn run_or<K: Kernel>(self, kernel: K, plain: impl FnOnce(K) -> K::Output) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            // SAFETY: the machine has these sets, which `available` has just asked.
            Self::Avx2 if self.available() => return unsafe { with_avx2(kernel) },
            Self::Avx512 if self.available() => return unsafe { with_avx512(kernel) },
            _ => {}
        }
        plain(kernel)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512cd,avx2")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
