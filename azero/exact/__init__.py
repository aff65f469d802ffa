"""Alpha-beta and solvers: proven values, and estimates at a horizon."""
