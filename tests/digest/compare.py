#!/usr/bin/env python3
"""Compiles the deciding rooms, the swarm and the simulator with several compilers and levels of
optimisation, lets each live the same random worlds and run the same scenarios, and compares the
digests of all decisions and step plans, the bytes of the journals, and those of generated requests
and of reports. Exit status 1 when any two differ, or when a compiler is missing."""
import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

SCENARIOS = ("underload", "flood", "guarantee_best_effort")
VARIANTS = [(compiler, level) for compiler in ("g++", "clang++-14") for level in ("-O0", "-O3")]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def build(source, folder, compiler, level):
    """The folder with the programs of one variant; what an earlier run built is used again."""
    # gcc 12 falsely sees fmt write past its own buffers where it optimises without a build type.
    flags = f"{level} -Wno-stringop-overflow" if compiler == "g++" else level
    if not (folder / "build.ninja").exists():
        run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
             f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_BUILD_TYPE=None", "-DTIDEGATE_LLAMA=OFF",
             "-DTIDEGATE_BENCH=OFF"])
    run(["ninja", "-C", folder, "swarm_test", "sim_bytes"])
    return folder / "bin"


def short_hash(content):
    return hashlib.sha256(content).hexdigest()[:16]


def fingerprint(programs, seeds, work, scenarios):
    """(digest of all decisions and plans, hash of the journal of one world, hash of generated
    requests and reports)"""
    swarm = programs / "swarm_test"
    worlds = run([swarm, "--seeds", str(seeds), "--twice-every", "0"])
    journal = work / "journal"
    run([swarm, "--first", "11", "--seeds", "1", "--journal", journal])
    simulated = run([programs / "sim_bytes", *scenarios])
    return (re.search(r"digest (\w+)", worlds)[1], short_hash(journal.read_bytes()),
            short_hash(simulated.encode()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--reference", type=pathlib.Path, required=True,
                        help="the folder of the programs that this build made")
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
    scenarios = [options.source / "scenarios" / f"{name}.yaml" for name in SCENARIOS]
    for name, folder in programs.items():
        found[name] = fingerprint(folder, options.seeds, options.work, scenarios)
        print("{:16} digest {} journal {} simulated {}".format(name, *found[name]))
    sys.exit(0 if len(set(found.values())) == 1 else "the bytes differ")


if __name__ == "__main__":
    main()
