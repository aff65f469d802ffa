"""The search: settings, kernels, leaves; many trees in lockstep or one by one; `TreeSearch`, which has them."""
