"""Work on several machines by Ray: a second pool of workers, which ends with the same results as the local one."""
