"""Measures this machine's speed: its peak, kernels, nets, self-play and training. `azero bench` prints it."""
