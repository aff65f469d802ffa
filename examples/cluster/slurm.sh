#!/bin/bash
# A run on four hosts of a Slurm cluster: sbatch examples/cluster/slurm.sh, in the repository's folder, which all hosts see.
#SBATCH --job-name=azero
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=B:INT@120
set -euo pipefail
. .venv/bin/activate

# Before the first `ray start`, and the same on all hosts: srun passes them on.
export RAY_USAGE_STATS_ENABLED=0 RAY_worker_niceness=0
export RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN
export AZERO_CACHE_DIR=/tmp/azero-$UID # compiled kernels: a disk of each host's own

mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=$(srun --nodes=1 --ntasks=1 --nodelist="${hosts[0]}" hostname --ip-address | awk '{print $1}')
port=$((20000 + SLURM_JOB_ID % 10000)) # other jobs' clusters have other ports

srun --overlap --nodes=1 --ntasks=1 --nodelist="${hosts[0]}" \
  ray start --head --block --node-ip-address="$head" --port="$port" --num-cpus=0 --object-store-memory=1000000000 \
  --include-dashboard=false --temp-dir="/tmp/ray-$SLURM_JOB_ID" &
until ray health-check --address "$head:$port" > /dev/null 2>&1; do sleep 2; done
srun --overlap --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --exclude="${hosts[0]}" \
  ray start --block --address="$head:$port" --num-cpus="$SLURM_CPUS_PER_TASK" --object-store-memory=500000000 &

# The script itself runs on the first host. A job that is started again goes on where the last one was.
run=runs/slurm
set -m # otherwise Bash makes a command in the background deaf to SIGINT
azero train connect_four --run "$run" --cluster "$head:$port" $([ -e "$run/config.toml" ] && echo --resume) &
training=$!
set +m
trap 'kill -INT $training' INT
status=0
wait "$training" || status=$?
if kill -0 "$training" 2> /dev/null; then # Slurm's interruption has ended the first wait
  status=0
  wait "$training" || status=$?
fi
kill $(jobs -p) 2> /dev/null || true
exit "$status"
