#!/usr/bin/env bash
# bench/overload.sh [OPTIONS]: three times as much load as the engine can do.
set -euo pipefail
cd "$(dirname "$0")/.."
exec node bench/overload/run.mjs "$@"
