"""Libraries that run a net, and the choice of the fastest here. A new one is a folder here.

Its `library.py` says which precisions it has on a device, and opens nets. `nets/quick_start.py` names those that need
no torch.
"""
