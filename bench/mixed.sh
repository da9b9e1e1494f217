#!/usr/bin/env bash
# bench/mixed.sh [OPTIONS]: short interactive requests together with long prompts, against this
# gateway and against llama-server of the same llama.cpp, in one run.
set -euo pipefail
cd "$(dirname "$0")/.."
export LLAMA_SERVER="${LLAMA_SERVER:-$(bench/mixed/build_peer)}"
exec node bench/mixed/run.mjs "$@"
