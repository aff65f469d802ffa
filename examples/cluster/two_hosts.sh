#!/bin/bash
# Starts Ray on this host, for a cluster of two or more hosts that are started by hand.
#
#   examples/cluster/two_hosts.sh head 10.0.0.1               # on the host of the run, whose address is 10.0.0.1
#   examples/cluster/two_hosts.sh node 10.0.0.1 10.0.0.2      # on each other host, with its own address
#
# All hosts need the same file ~/.ray/auth_token: `ray get-auth-token --generate` makes one; copy it. `ray stop` ends it.
set -euo pipefail
export RAY_USAGE_STATS_ENABLED=0 RAY_worker_niceness=0 RAY_AUTH_MODE=token
ports=(--node-manager-port=6380 --object-manager-port=6381 --min-worker-port=10002 --max-worker-port=10999)

case $1 in
  head) # games are played elsewhere: the trainer has this host's cores
    ray start --head --node-ip-address="$2" --port=6379 --num-cpus=0 --object-store-memory=1000000000 \
      --include-dashboard=false "${ports[@]}"
    ;;
  node) # as many workers as there are cores
    ray start --address="$2:6379" --node-ip-address="$3" --object-store-memory=500000000 "${ports[@]}"
    ;;
esac
