//! What several tests share.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub mod case;
