#!/usr/bin/env bash
# tests/e2e/run.sh BINARY FILE: runs one file of tests against the program at BINARY. Status 77:
# skipped, because node or the packages are missing.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v node >/dev/null; then
  echo "skipped: node is not installed; scripts/setup installs it"
  exit 77
fi
if [[ ! -d node_modules/openai ]]; then
  echo "skipped: the openai client is not installed; scripts/setup installs it"
  exit 77
fi
export TIDEGATE_BINARY="$1"
if [[ "$2" == report.test.mjs ]]; then
  if ! browser="${TIDEGATE_TEST_BROWSER:-$(command -v chromium || command -v google-chrome)}" ||
     [[ ! -d node_modules/playwright-core ]]; then
    echo "skipped: chromium or playwright-core is not installed; scripts/setup installs them"
    exit 77
  fi
  export TIDEGATE_TEST_BROWSER="$browser"
fi
exec node --test "$2"
