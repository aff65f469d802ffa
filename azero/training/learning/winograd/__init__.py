"""Training by azero's own convolutions, which are Winograd's."""
