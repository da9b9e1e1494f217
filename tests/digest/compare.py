#!/usr/bin/env python3
"""Compiles the deciding rooms and the swarm with several compilers and levels of optimisation, lets
each live the same random worlds, and compares the digests of all decisions and step plans and the
bytes of the journals. With clang it compiles the simulator too, and compares generated requests and
reports of scenarios with those of this build. Exit status 1 when any two differ, or when a compiler
is missing."""
import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

SCENARIOS = ("underload", "flood", "guarantee_best_effort")
# One more variant of the simulator takes two minutes to compile, so only the one that differs most
# from the usual build, by g++, has it.
SIMULATED = ("clang++-14", "-O3")
VARIANTS = [(compiler, level) for compiler in ("g++", "clang++-14") for level in ("-O0", "-O3")]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def build(source, folder, compiler, level):
    """The folder with the programs of one variant; what an earlier run built is used again."""
    if not (folder / "build.ninja").exists():
        run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
             f"-DCMAKE_CXX_FLAGS={level}", "-DCMAKE_BUILD_TYPE=None", "-DTIDEGATE_LLAMA=OFF",
             "-DTIDEGATE_BENCH=OFF"])
    targets = ["swarm_test", "sim_bytes"] if (compiler, level) == SIMULATED else ["swarm_test"]
    run(["ninja", "-C", folder, *targets])
    return folder / "bin"


def short_hash(content):
    return hashlib.sha256(content).hexdigest()[:16]


def fingerprint(programs, seeds, journal):
    """(digest of all decisions and plans, hash of the journal of one world)"""
    swarm = programs / "swarm_test"
    worlds = run([swarm, "--seeds", str(seeds), "--twice-every", "0"])
    run([swarm, "--first", "11", "--seeds", "1", "--journal", journal])
    return re.search(r"digest (\w+)", worlds)[1], short_hash(journal.read_bytes())


def simulated(programs, source):
    """The hash of generated requests and of the reports of SCENARIOS."""
    scenarios = [source / "scenarios" / f"{name}.yaml" for name in SCENARIOS]
    return short_hash(run([programs / "sim_bytes", *scenarios]).encode())


def all_equal(found):
    """Prints what each variant came to; says whether it is the same for all."""
    for name, values in found.items():
        print(f"{name:16}", *values)
    return len(set(found.values())) == 1


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
    print("decisions and journals:")
    decided = all_equal({name: fingerprint(folder, options.seeds, options.work / "journal")
                         for name, folder in programs.items()})
    print("generated requests and reports:")
    reported = all_equal({name: (simulated(programs[name], options.source),)
                          for name in ("this build", " ".join(SIMULATED))})
    sys.exit(0 if decided and reported else "the bytes differ")


if __name__ == "__main__":
    main()
