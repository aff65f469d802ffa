"""Games against itself: many in lockstep, as data, and the replay that training draws from."""
