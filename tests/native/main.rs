//! The native tests, one binary: a file a subject. `cargo test --test native lanczos::` runs one of them. What needs a process of its own
//! (an allocator that fails, a clock) or a browser is beside this folder.

#![cfg(not(target_arch = "wasm32"))]

mod support;

mod bad_input;
mod balance;
mod batch_norm;
mod batch_norm_space;
mod cli;
mod coarse;
mod derivatives;
mod diagonal;
mod dinh;
mod dinh_flatness;
mod dinh_inputs;
mod equivalence;
mod estimators;
mod executor;
mod features;
mod finite;
mod golden;
mod graph_invariance;
mod graph_spaces;
mod graph_symmetry;
mod graphs;
mod horizontal;
mod image_symmetry;
mod invariance;
mod journal;
mod lanczos;
mod landscape;
mod least_trace;
mod low_rank;
mod merged;
mod networks;
mod normalized_sharpness;
mod one_point;
mod papers;
mod passes;
mod path_training;
mod plan;
mod program;
mod ranks;
mod report;
mod saturated;
mod shaders;
mod sharded;
mod sharpness;
mod sizes;
mod space_curvature;
mod space_training;
mod spaces;
mod spectrum;
mod symmetry;
mod tables;
mod training;
mod training_runs;
mod trajectory;
mod tuning;
mod twins;
mod twins_graphs;
mod twins_images;
mod twins_spaces;
mod weight_fixing;
