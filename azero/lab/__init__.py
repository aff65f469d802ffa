"""The UCT paper's experiments: one file per experiment, and the files that they share.

Source: Kocsis & Szepesvari, Bandit based Monte-Carlo planning, ECML 2006, section 3.
"""
