"""Benchmarks of drystone-cpu's kernels on real models, beside TensorFlow's."""
