#!/usr/bin/env bash
# bench/own_engine.sh [OPTIONS]: the same requests through `tidegate serve` on this machine and
# through the simulator with the law that the engine learned; prints by how much they differ.
set -euo pipefail
cd "$(dirname "$0")/.."
exec node bench/fidelity/own_engine.mjs "$@"
