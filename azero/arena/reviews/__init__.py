"""Reviews of games: what each move lost, by an agent's judgement."""
