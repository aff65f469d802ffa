"""The net run by azero's own kernels, whose 3 x 3 convolutions are Winograd's."""
