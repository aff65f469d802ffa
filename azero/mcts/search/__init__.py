"""The search: settings, kernels, leaves, and `Search`, which has them work on many trees."""
