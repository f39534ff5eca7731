//! Holds nothing: each guest is an example of its own.
