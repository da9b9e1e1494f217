#!/usr/bin/env python3
"""Compiles the deciding rooms and the swarm with several compilers and levels of optimisation, lets
each live the same random worlds, and compares the digests of all decisions and step plans and the
bytes of the journals. Exit status 1 when any two differ, or when a compiler is missing."""
import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

VARIANTS = [(compiler, level) for compiler in ("g++", "clang++-14") for level in ("-O0", "-O3")]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def build(source, folder, compiler, level):
    """The swarm program of one variant; what an earlier run built is used again."""
    if not (folder / "build.ninja").exists():
        run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
             f"-DCMAKE_CXX_FLAGS={level}", "-DCMAKE_BUILD_TYPE=None", "-DTIDEGATE_LLAMA=OFF",
             "-DTIDEGATE_BENCH=OFF"])
    run(["ninja", "-C", folder, "swarm_test"])
    return folder / "bin" / "swarm_test"


def fingerprint(program, seeds, journal):
    """(digest of all decisions and plans, hash of the journal of one world)"""
    worlds = run([program, "--seeds", str(seeds), "--twice-every", "0"])
    run([program, "--first", "11", "--seeds", "1", "--journal", journal])
    return (re.search(r"digest (\w+)", worlds)[1],
            hashlib.sha256(journal.read_bytes()).hexdigest()[:16])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--reference", type=pathlib.Path, required=True,
                        help="the program that this build made")
    parser.add_argument("--seeds", type=int, default=2000)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    programs = {"this build": options.reference}
    for compiler, level in VARIANTS:
        if shutil.which(compiler) is None:
            sys.exit(f"{compiler} is not installed: scripts/setup installs it")
        name = f"{compiler} {level}"
        folder = options.work / name.replace(" ", "")
        programs[name] = build(options.source, folder, compiler, level)
    found = {}
    for name, program in programs.items():
        found[name] = fingerprint(program, options.seeds, options.work / "journal")
        print(f"{name:16} digest {found[name][0]} journal {found[name][1]}")
    sys.exit(0 if len(set(found.values())) == 1 else "the decisions differ")


if __name__ == "__main__":
    main()
