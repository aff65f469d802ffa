"""The search: `TreeSearch` for agents, `Search` for callers in Python, and the kernels, trees and settings of both."""
