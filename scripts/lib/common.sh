# Sourced by the scripts beside it: where the repository is, how to say things, how to build.
# Bash only. Sets `root`, goes there, and leaves `set -euo pipefail` on.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"

# ccache, where there is one, then finds the same object again from a clone in another folder.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$root}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-1}"
export NINJA_STATUS="${NINJA_STATUS:-[%f/%t, %es] }"

say() { printf '== %s\n' "$*" >&2; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# wants_help ARGS: true when the first argument asks for help.
wants_help() { [[ "${1:-}" == "-h" || "${1:-}" == "--help" ]]; }

# show_usage: prints the comment block at the top of the script that was started, after `#!`.
show_usage() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; }

# run_quietly WHAT COMMAND...: shows the command's output only when it fails.
run_quietly() {
  local what="$1" log
  shift
  log="$(mktemp)"
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "$what failed (output above)"
  fi
  rm -f "$log"
}

configure() { run_quietly "configuring build/$1" cmake --preset "$@"; }

# build PRESET [TARGET...]: one status line on a terminal, silent without one.
build() {
  local preset="$1" quiet=()
  shift
  [[ -t 1 ]] || quiet=(--quiet)
  configure "$preset"
  say "building ${*:-everything} (preset $preset)"
  ninja -C "build/$preset" "${quiet[@]}" "$@" >&2
}
