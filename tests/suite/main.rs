//! What holds Deputy's promises, in one binary: rules of the code base, guests of one behaviour each, the real
//! command line, and model servers on loopback.

mod delegation;
mod guests;
mod support;
mod tidy;
