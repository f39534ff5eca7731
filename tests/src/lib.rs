//! Holds nothing: the tests are in `suite`.
