"""The UCT paper's experiments, rerun: a file each, beside what they share.

Source: Kocsis & Szepesvari, Bandit based Monte-Carlo planning, ECML 2006, section 3.
"""
