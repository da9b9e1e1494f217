#!/usr/bin/env bash
# scripts/bench tail [POLICY...]: which promises each policy keeps on three classes on one engine
# around and beyond its capacity, for the lengths of two public traces.
#
# Needs Azure's traces of 2023, azure_code_2023.csv.gz and azure_conv_2023.csv.gz, in the folder
# traces/ of TIDEGATE_DATA. Takes some seconds for each policy, and more for the bounds.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
  exit 0
fi
traces="${TIDEGATE_DATA:-../shared/data}/traces"
program=build/release/bin/three_tiers
ninja -C build/release --quiet three_tiers >&2
for trace in azure_code_2023 azure_conv_2023; do
  if [[ ! -f "$traces/$trace.csv.gz" ]]; then
    echo "tail: $traces/$trace.csv.gz is missing; TIDEGATE_DATA is the folder above traces/" >&2
    exit 1
  fi
  printf '\n%s\n\n' "$trace"
  "$program" "$traces/$trace.csv.gz" 5,7,9 "$@"
done
