"""The nets, one file each, and what a net must offer. CONTRIBUTING.md says how to add one."""
