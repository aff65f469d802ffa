"""Alpha-beta and solvers: exact values, and estimates at a horizon."""
