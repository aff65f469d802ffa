"""A run's folder: its layout, its files and its lock. All that reads or writes a part of it begins here.

config.toml          all settings, resolved
state.safetensors    trainer, progress and settings, from which an interrupted run continues; saved after and in stages
state_beginning.safetensors  the state at the beginning of the current iteration, for repairs
checkpoints/         the first net and every promoted one, by iteration; also the final's winner
best.safetensors     the net promoted last; after the last iteration, the winner of the final
candidate.safetensors
replay/              self-play shards of the window and of the current iteration
metrics.jsonl        one line per iteration
tensorboard/
rollout.safetensors  the policy of `azero train-rollout`, if there was one
ratings.json         the games of `azero rate --run`, if there were any
.lock                exists while a process trains the run

A file of another version of azero is refused in one line. No module here needs torch.
"""
