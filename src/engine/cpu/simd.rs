//! Which vector instructions there are, and running a piece of work compiled for them.

/// Instructions that the register tiles are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// What every machine of this kind has: SSE2, NEON, WebAssembly SIMD.
    Baseline,
    /// AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best there is.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }

    /// For the reader of a number.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            Self::Baseline if cfg!(target_feature = "relaxed-simd") => "WebAssembly relaxed SIMD",
            Self::Baseline if cfg!(target_arch = "wasm32") => "WebAssembly SIMD",
            Self::Baseline if cfg!(target_arch = "aarch64") => "NEON",
            Self::Baseline => "SSE2",
        }
    }
}

/// Bytes of a tile's row, one number of every sample of a block, in blocks that are made for AVX-512, and for it alone.
#[cfg(target_arch = "x86_64")]
pub const WIDE: usize = 128;

/// Work whose loops are compiled once a level. `run` must be `#[inline(always)]` down to its loops: that is what carries
/// the instructions into them.
pub trait Work {
    /// Bytes of a tile's row.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "elsewhere blocks have one width"))]
    const ROW: usize;

    /// Does it; `FMA` says whether a fused multiply-add is one instruction.
    fn run<const FMA: bool>(self);
}

/// Does the work with the instructions of `level`, which [`Level::detect`] found.
///
/// A function of its own: in WebAssembly, where nothing else keeps it apart, the loops would otherwise become part of the passes that call
/// them, whose large functions browsers compile worse.
#[allow(unsafe_code)]
#[inline(never)]
pub fn run<W: Work>(level: Level, work: W) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn avx2<W: Work>(work: W) {
            work.run::<true>();
        }
        #[target_feature(enable = "avx512f,avx2,fma")]
        fn avx512<W: Work>(work: W) {
            work.run::<true>();
        }
        // A block's width is a level's, so nothing is compiled for a level that never meets it.
        if const { W::ROW == WIDE } {
            assert!(level == Level::Avx512, "blocks as wide as this one are AVX-512's");
            // SAFETY: detect() found these instructions on this machine.
            return unsafe { avx512(work) };
        }
        debug_assert!(level != Level::Avx512, "AVX-512's blocks are wider");
        if level != Level::Baseline {
            // SAFETY: likewise; where there is AVX-512 there is AVX2.
            return unsafe { avx2(work) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let Level::Baseline = level;
    if cfg!(target_arch = "aarch64") { work.run::<true>() } else { work.run::<false>() }
}
