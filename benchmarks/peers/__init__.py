"""The work of `benchmarks.run` in what a user would pick instead, each as its own docs would."""
