"""azero's nets as graphs of operations, for libraries other than torch. Nothing here imports torch."""
