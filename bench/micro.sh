#!/usr/bin/env bash
# bench/micro.sh [PRESET]: what one decision costs in both tiers, against the budgets of
# docs/architecture.md. Exit status 1 when a budget is passed. Wants an otherwise idle machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset="${1:-release}"
results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
for name in pool_decision step_composition; do
  ninja -C "build/$preset" --quiet "$name" >&2
  "build/$preset/bin/$name" --benchmark_format=json >"$results/$name.json"
done
python3 bench/micro/budgets.py "$results/pool_decision.json" "$results/step_composition.json"
