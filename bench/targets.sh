#!/usr/bin/env bash
# scripts/bench targets [--seeds N] [--only ROW,...] [--json]: the table of targets. Every situation
# that Tidegate is held to in the simulator, what it asks for, what was measured, the best of the
# baselines in the same runs, what no policy can exceed, and whether the target was met.
#
# Takes about a quarter of an hour on one core with 5 seeds. QoServe's rows need Azure's code trace
# of 2023, azure_code_2023.csv.gz, in the folder traces/ of TIDEGATE_DATA, and are left out without.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
  exit 0
fi
trace="${TIDEGATE_DATA:-../shared/data}/traces/azure_code_2023.csv.gz"
ninja -C build/release --quiet targets >&2
arguments=("$@")
if [[ -f "$trace" ]]; then arguments+=(--trace "$trace"); fi
exec build/release/bin/targets "${arguments[@]}"
