//! Rows of lanes by the machine's vectors.
//!
//! Left to the compiler, the sums of a tile are taken apart into scalars and put together again; where it finds no way to, they stay
//! half scalar, and the tile is a fifth as fast. Which tiles those are changes with the code around them.
//!
//! `FMA` is for code under [`super::simd::run`] alone to say.

#[cfg(not(any(target_arch = "x86_64", target_arch = "wasm32")))]
mod portable;
#[cfg(target_arch = "wasm32")]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::real::Real;

/// A register of numbers in a format, one of the machine's vectors.
///
/// # Safety
/// A type of it is a whole number of numbers long and loads and stores so many, wherever they lie. Whoever calls one of its functions
/// has made sure that the machine has its instructions, and that as many numbers are there.
#[allow(unsafe_code)]
pub unsafe trait Register<T>: Copy {
    /// The first numbers there.
    unsafe fn load(from: *const T) -> Self;
    /// Writes them there.
    unsafe fn store(self, to: *mut T);
    /// As often as it goes in.
    unsafe fn splat(value: T) -> Self;
    /// self + other
    unsafe fn plus(self, other: Self) -> Self;
    /// self − other
    unsafe fn minus(self, other: Self) -> Self;
    /// self + a ⊙ b, in one rounding where the machine has that.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    /// self ⊙ other
    unsafe fn times(self, other: Self) -> Self;
    /// `then` where self > 0, else `other`: also where self is not a number.
    unsafe fn choose(self, then: Self, other: Self) -> Self;
}

/// The registers of a format: of each machine at most three widths.
pub trait Registers: Sized {
    /// For rows of 128 bytes where `FMA`.
    type Wide: Register<Self>;
    /// For others where `FMA`.
    type Fused: Register<Self>;
    /// Elsewhere.
    type Base: Register<Self>;
}

/// Calls a function of some registers with those that `FMA` and the rows' length say: AVX-512's for the rows of its blocks, AVX2's for
/// shorter ones there too. Only code under [`super::simd::run`] says `FMA`: there it is compiled for what the machine has.
macro_rules! by_width {
    ($T:ident, $J:ident, $FMA:ident, $call:ident($($argument:expr),*)) => {
        // SAFETY: rows of 128 bytes are multiplied by AVX-512's code alone, and fused where AVX2 or NEON is; the base is
        // everywhere. Rows are whole numbers of registers.
        #[allow(unsafe_code)]
        unsafe {
            if const { $FMA && size_of::<[$T; $J]>() == 128 } {
                $call::<$T, <$T as Registers>::Wide, $J>($($argument),*)
            } else if const { $FMA } {
                $call::<$T, <$T as Registers>::Fused, $J>($($argument),*)
            } else {
                $call::<$T, <$T as Registers>::Base, $J>($($argument),*)
            }
        }
    };
}

/// out += a b
#[inline(always)]
pub fn add_scaled<T: Real, const J: usize, const FMA: bool>(out: &mut [T; J], a: T, b: &[T; J]) {
    by_width!(T, J, FMA, add_scaled_by(out, a, b));
}

/// out += a ⊙ b
#[inline(always)]
pub fn add_product<T: Real, const J: usize, const FMA: bool>(out: &mut [T; J], a: &[T; J], b: &[T; J]) {
    by_width!(T, J, FMA, add_product_by(out, a, b));
}

/// out += a
#[inline(always)]
pub fn add<T: Real, const J: usize, const FMA: bool>(out: &mut [T; J], a: &[T; J]) {
    by_width!(T, J, FMA, add_by(out, a));
}

/// out = start + a
#[inline(always)]
pub fn write<T: Real, const J: usize, const FMA: bool>(out: &mut [T; J], start: T, a: &[T; J]) {
    by_width!(T, J, FMA, write_by(out, start, a));
}

/// out = a: of WebAssembly a call of memory.copy would be made.
#[inline(always)]
pub fn copy<T: Real, const J: usize, const FMA: bool>(out: &mut [T; J], a: &[T; J]) {
    by_width!(T, J, FMA, copy_by(out, a));
}

/// Bᵀ d B of Winograd's form F(2 × 2, 3 × 3) for 4 × 4 rows d, place by place, `stride` rows from one to the next.
#[inline(always)]
pub fn spread<T: Real, const J: usize, const FMA: bool>(d: &[&[T; J]; 16], out: &mut [[T; J]], stride: usize) {
    assert!(out.len() > 15 * stride, "there is room for all places");
    by_width!(T, J, FMA, spread_by(d, out, stride));
}

/// Aᵀ m A: 2 × 2 rows of 4 × 4.
#[inline(always)]
pub fn gather<T: Real, const J: usize, const FMA: bool>(m: &[&[T; J]; 16], out: &mut [[T; J]; 4]) {
    by_width!(T, J, FMA, gather_by(m, out));
}

/// Asks for what is there, or will be written there, before it is wanted: for the second cache, where the machine can be asked.
#[inline(always)]
#[allow(unsafe_code)]
pub fn ask_for<T>(from: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: nothing is read, whatever lies there.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Where the vectors of a row begin, which it is a whole number of.
#[inline(always)]
fn places<T, V, const J: usize>() -> impl Iterator<Item = usize> {
    let length = const { size_of::<V>() / size_of::<T>() };
    debug_assert!(J.is_multiple_of(length));
    (0..J / length).map(move |i| i * length)
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn add_scaled_by<T: Real, V: Register<T>, const J: usize>(out: &mut [T; J], a: T, b: &[T; J]) {
    let (out, b) = (out.as_mut_ptr(), b.as_ptr());
    // SAFETY: the caller's, and places are within rows.
    unsafe {
        let a = V::splat(a);
        for i in places::<T, V, J>() {
            V::load(out.add(i)).plus_product(a, V::load(b.add(i))).store(out.add(i));
        }
    }
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn add_product_by<T: Real, V: Register<T>, const J: usize>(out: &mut [T; J], a: &[T; J], b: &[T; J]) {
    let (out, a, b) = (out.as_mut_ptr(), a.as_ptr(), b.as_ptr());
    // SAFETY: as above.
    unsafe {
        for i in places::<T, V, J>() {
            V::load(out.add(i)).plus_product(V::load(a.add(i)), V::load(b.add(i))).store(out.add(i));
        }
    }
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn add_by<T: Real, V: Register<T>, const J: usize>(out: &mut [T; J], a: &[T; J]) {
    let (out, a) = (out.as_mut_ptr(), a.as_ptr());
    // SAFETY: as above.
    unsafe {
        for i in places::<T, V, J>() {
            V::load(out.add(i)).plus(V::load(a.add(i))).store(out.add(i));
        }
    }
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn write_by<T: Real, V: Register<T>, const J: usize>(out: &mut [T; J], start: T, a: &[T; J]) {
    let (out, a) = (out.as_mut_ptr(), a.as_ptr());
    // SAFETY: as above.
    unsafe {
        let start = V::splat(start);
        for i in places::<T, V, J>() {
            start.plus(V::load(a.add(i))).store(out.add(i));
        }
    }
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn copy_by<T: Real, V: Register<T>, const J: usize>(out: &mut [T; J], a: &[T; J]) {
    let (out, a) = (out.as_mut_ptr(), a.as_ptr());
    // SAFETY: as above.
    unsafe {
        for i in places::<T, V, J>() {
            V::load(a.add(i)).store(out.add(i));
        }
    }
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn spread_by<T: Real, V: Register<T>, const J: usize>(d: &[&[T; J]; 16], out: &mut [[T; J]], stride: usize) {
    // SAFETY: as above; the caller has made sure that there is room for all places.
    unsafe {
        let at = |[a, b, c, d]: [V; 4]| [a.minus(c), b.plus(c), c.minus(b), b.minus(d)];
        for i in places::<T, V, J>() {
            let load = |k: usize| V::load(d[k].as_ptr().add(i));
            let columns = [
                at([load(0), load(4), load(8), load(12)]),
                at([load(1), load(5), load(9), load(13)]),
                at([load(2), load(6), load(10), load(14)]),
                at([load(3), load(7), load(11), load(15)]),
            ];
            for y in 0..4 {
                let row = at([columns[0][y], columns[1][y], columns[2][y], columns[3][y]]);
                for x in 0..4 {
                    row[x].store(out.as_mut_ptr().add((4 * y + x) * stride).cast::<T>().add(i));
                }
            }
        }
    }
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn gather_by<T: Real, V: Register<T>, const J: usize>(m: &[&[T; J]; 16], out: &mut [[T; J]; 4]) {
    // SAFETY: as above.
    unsafe {
        let at = |[a, b, c, d]: [V; 4]| [a.plus(b).plus(c), b.minus(c).minus(d)];
        for i in places::<T, V, J>() {
            let load = |k: usize| V::load(m[k].as_ptr().add(i));
            let columns = [
                at([load(0), load(4), load(8), load(12)]),
                at([load(1), load(5), load(9), load(13)]),
                at([load(2), load(6), load(10), load(14)]),
                at([load(3), load(7), load(11), load(15)]),
            ];
            for y in 0..2 {
                let [first, second] = at([columns[0][y], columns[1][y], columns[2][y], columns[3][y]]);
                first.store(out[2 * y].as_mut_ptr().add(i));
                second.store(out[2 * y + 1].as_mut_ptr().add(i));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{add, add_product, add_scaled, copy, write};
    use crate::engine::cpu::real::Real;
    use crate::engine::cpu::simd::{self, Level, Work};

    struct Rows<'a, T, const J: usize> {
        a: &'a [T; J],
        b: &'a [T; J],
        out: &'a mut [[T; J]; 5],
    }

    impl<T: Real, const J: usize> Work for Rows<'_, T, J> {
        const ROW: usize = size_of::<[T; J]>();

        #[inline(always)]
        fn run<const FMA: bool>(self) {
            let [scaled, product, sum, written, copied] = self.out;
            add_scaled::<T, J, FMA>(scaled, self.a[1], self.b);
            add_product::<T, J, FMA>(product, self.a, self.b);
            add::<T, J, FMA>(sum, self.a);
            write::<T, J, FMA>(written, self.a[2], self.b);
            copy::<T, J, FMA>(copied, self.b);
        }
    }

    fn check<T: Real, const J: usize>(level: Level) {
        // Small whole numbers: no rounding anywhere, and every place is another number.
        let number = |i: usize| T::from_f64(i as f64);
        let a: [T; J] = std::array::from_fn(|j| number(j + 1));
        let b: [T; J] = std::array::from_fn(|j| number(100 + 3 * j));
        let mut out = [[T::ONE; J]; 5];
        simd::run(level, Rows { a: &a, b: &b, out: &mut out });
        for j in 0..J {
            let expected = [T::ONE + a[1] * b[j], T::ONE + a[j] * b[j], T::ONE + a[j], a[2] + b[j], b[j]];
            for (row, expected) in out.iter().zip(expected) {
                assert_eq!(row[j].to_f64(), expected.to_f64(), "lane {j} of {J}, {level:?}");
            }
        }
    }

    #[test]
    fn every_width_of_every_level_computes_the_same() {
        check::<f32, 16>(Level::Baseline);
        check::<f32, 8>(Level::Baseline);
        check::<f64, 8>(Level::Baseline);
        #[cfg(target_arch = "x86_64")]
        {
            if Level::detect() != Level::Baseline {
                check::<f32, 16>(Level::Avx2);
                check::<f32, 8>(Level::Avx2);
                check::<f64, 8>(Level::Avx2);
            }
            if Level::detect() == Level::Avx512 {
                check::<f32, 32>(Level::Avx512);
                check::<f64, 16>(Level::Avx512);
            }
        }
    }
}
