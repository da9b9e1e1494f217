#!/usr/bin/env python3
"""Runs clang-tidy on our own C++ sources, in parallel, and only on what changed.

A source that passed is remembered under the hash of all that its verdict depends on: its text,
the text of our headers it includes (directly or not), the compile command, .clang-tidy and the
version of clang-tidy. Memory lives in $XDG_CACHE_HOME/tidegate/lint, so a clone in another folder
profits from it. Debian's headers are taken as constant; --fresh forgets everything.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ("src/", "apps/", "tools/", "tests/", "bench/")
TIDY = "clang-tidy-14"
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.M)


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    return pathlib.Path(base) / "tidegate" / "lint"


def our_sources(build):
    """(path relative to the root, compile command) of each of our sources in the build."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and str(path.relative_to(ROOT)).startswith(OURS):
            found[path.relative_to(ROOT)] = entry["command"]
    return found


def include_closure(path, seen):
    """Adds the file and all of our headers that it reaches to seen."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall((ROOT / path).read_bytes()):
        for base in (ROOT / "src", (ROOT / path).parent):
            target = (base / name.decode()).resolve()
            if target.is_file() and target.is_relative_to(ROOT):
                include_closure(target.relative_to(ROOT), seen)
                break


def configurations(path):
    """The .clang-tidy files that hold for the source."""
    folders = [ROOT / path.parent] + list((ROOT / path).parent.parents)
    return [f / ".clang-tidy" for f in folders
            if f.is_relative_to(ROOT) and (f / ".clang-tidy").is_file()]


def key_of(path, command, version):
    digest = hashlib.sha256(version)
    digest.update(command.replace(str(ROOT), ".").encode())
    for configuration in configurations(path):
        digest.update(configuration.read_bytes())
    files = set()
    include_closure(path, files)
    for name in sorted(files):
        digest.update(str(name).encode() + b"\0" + (ROOT / name).read_bytes() + b"\0")
    return digest.hexdigest()


def lint(path, build):
    # The compile command may be gcc's, with warnings that clang does not have.
    command = [TIDY, "--quiet", f"-p={build}", "--extra-arg=-Wno-unknown-warning-option",
               str(ROOT / path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout or done.stderr


def canary(build):
    """Fails unless a source with a known finding is found wanting: a lint that reads no
    configuration would otherwise pass everything."""
    source = build / "lint_canary.cc"
    source.write_text("class badly_named {};\n")
    done = subprocess.run([TIDY, "--quiet", f"--config-file={ROOT}/.clang-tidy", str(source), "--",
                           "-std=c++20"], capture_output=True, text=True, check=False)
    source.unlink()
    if done.returncode == 0 or "readability-identifier-naming" not in done.stdout:
        sys.exit(f"lint: {TIDY} does not find what it must:\n{done.stdout}{done.stderr}")


def progress(done, total, path):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r[{done}/{total}] {path}\x1b[K" + ("\n" if done == total else ""))
        sys.stderr.flush()


def run_all(todo, build, cache, jobs):
    """Lints every path of todo; returns the paths that failed, with their output printed."""
    failed = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(lint, path, build): path for path in todo}
        for count, future in enumerate(concurrent.futures.as_completed(running), 1):
            path = running[future]
            passed, output = future.result()
            progress(count, len(todo), path)
            if passed:
                (cache / todo[path]).touch()
            else:
                failed.append(path)
                print(output)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True,
                        help="a configured build folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--fresh", action="store_true", help="lint what passed before, too")
    parser.add_argument("only", nargs="*", help="sources whose path contains one of these words")
    args = parser.parse_args()

    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    build = args.build.resolve()
    canary(build)
    sources = {path: command for path, command in sorted(our_sources(build).items())
               if not args.only or any(word in str(path) for word in args.only)}
    keys = {path: key_of(path, command, version) for path, command in sources.items()}
    todo = {path: key for path, key in keys.items() if args.fresh or not (cache / key).exists()}
    failed = run_all(todo, build, cache, args.jobs)
    print(f"lint: {len(sources)} sources, {len(todo)} looked at, {len(failed)} with findings")
    for path in sorted(failed):
        print(f"  {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
