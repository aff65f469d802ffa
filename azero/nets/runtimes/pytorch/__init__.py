"""The net run by torch: on every machine, and the reference for other libraries."""
