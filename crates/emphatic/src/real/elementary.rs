//! stand-in
/// a
#[inline(always)] pub fn exp(x: f64) -> f64 { x.exp() }
/// a
#[inline(always)] pub fn ln(x: f64) -> f64 { x.ln() }
/// a
#[inline(always)] pub fn sigmoid(x: f64) -> f64 { 1.0/(1.0+(-x).exp()) }
/// a
#[inline(always)] pub fn softplus(x: f64) -> f64 { if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() } }
/// a
#[inline(always)] pub fn normal_density(x: f64, m: f64, s: f64) -> f64 { let z=(x-m)/s; (-0.5*z*z).exp()/(s*(2.0*std::f64::consts::PI).sqrt()) }
