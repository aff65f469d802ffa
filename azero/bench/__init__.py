"""What this machine does in a second: its own peak, kernels, nets, self-play, training. `azero bench` prints it."""
