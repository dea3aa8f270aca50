//! Peak speeds of this machine, measured in the same run as the results compared with them.

use super::timing::time;
use crate::num::{peak, simd::Isa};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::hint::black_box;

/// Peak speeds of all threads together.
pub struct Peaks {
    isa: Isa,
    threads: usize,
    /// Floating-point operations per second of fused multiply-adds in `f64` (two per multiply-add).
    pub flops: f64,
    /// Seconds per exponential, all threads computing exponentials.
    pub exponential: f64,
    /// Bytes per second of memory copies; read and written bytes are counted.
    pub copy: f64,
}

impl Peaks {
    /// Measures the peaks; takes about two seconds.
    pub fn measure(isa: Isa) -> Self {
        let threads = rayon::current_num_threads();
        let everywhere = |work: &(dyn Fn() + Sync)| {
            time(|| (0..threads).into_par_iter().with_max_len(1).for_each(|_| work())).median
        };
        let rounds = 2000;
        let operations = peak::multiply_add(isa, 1).1 * rounds as f64;
        let fma = everywhere(&|| {
            black_box(peak::multiply_add(isa, black_box(rounds)));
        });
        let start: Vec<f64> = (0..2048).map(|i| -0.01 * f64::from(i)).collect();
        let passes = 100;
        let exp = everywhere(&|| {
            let mut t = start.clone();
            for _ in 0..passes {
                // The results, in (0, 1], are no valid input (it must not be positive): copy it
                // again.
                t.copy_from_slice(&start);
                peak::exponentials(isa, black_box(&mut t));
            }
        });
        // Larger than the caches. The warm-up run of `time` touches all pages.
        let (bytes, copies) = (1usize << 26, 2);
        let mut buffers = vec![(vec![1u8; bytes], vec![0u8; bytes]); threads];
        let copying = |(from, to): &mut (Vec<u8>, Vec<u8>)| {
            for _ in 0..copies {
                to.copy_from_slice(black_box(from));
                black_box(&mut *to);
            }
        };
        let copy = time(|| buffers.par_iter_mut().with_max_len(1).for_each(copying)).median;
        Self {
            isa,
            threads,
            flops: threads as f64 * operations / fma,
            exponential: exp / (threads * passes * start.len()) as f64,
            copy: 2.0 * (threads * bytes * copies) as f64 / copy,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({"simd": self.isa.name(), "threads": self.threads, "fma_flops_per_second": self.flops, "seconds_per_exponential": self.exponential,
            "copy_bytes_per_second": self.copy})
    }

    /// As text.
    pub fn text(&self) -> String {
        format!(
            "{}, {} threads: {:.1} GFLOP/s of fused multiply-adds, {:.3} ns per exponential, {:.1} GB/s copied",
            self.isa.name(),
            self.threads,
            self.flops / 1e9,
            self.exponential * 1e9,
            self.copy / 1e9
        )
    }
}
