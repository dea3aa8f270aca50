//! Nothing: the benches are beside this file.
