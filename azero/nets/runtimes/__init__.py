"""Libraries that run a net, and the choice of the fastest here. A new one is a folder here; nothing else lists it.

Its `library.py` says which precisions it has on a device, and opens nets.
"""
