use emphatic::{Action, Random};
use emphatic_environments::*;
use std::time::Instant;
fn main() {
    for name in ["mountain-car", "puddle-world", "cart-pole"] {
        let e = find(name).unwrap();
        for n in [1usize, 2, 3, 4, 5, 8, 16, 64] {
            let size = e.description().state;
            let mut r: Vec<Random> = (0..n as u64).map(|k| Random::new(1, k)).collect();
            let mut s = vec![0.0; n * size];
            for k in 0..n { e.start(&mut s[k * size..][..size], &mut r[k]); }
            let acts: Vec<Action> = (0..n * 128).map(|_| Action::Number(r[0].below(2))).collect();
            let mut o = vec![Outcome::default(); n];
            let mut best = f64::MAX;
            for _ in 0..20 {
                let t = Instant::now();
                for a in acts.chunks_exact(n).cycle().take(20000 / n) { e.step_all(&mut s, a, &mut r, &mut o); }
                best = best.min(t.elapsed().as_nanos() as f64 / 20000.0);
            }
            print!("{name} {n}: {best:.1}  ");
        }
        println!();
    }
}
