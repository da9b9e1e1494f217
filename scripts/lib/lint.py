#!/usr/bin/env python3
"""Runs clang-tidy on our own C++ sources, many in one unit, in parallel, and only on what changed.

Most of clang-tidy 14's time on one of our sources goes into looking at the standard library (6.4 s
of processor time for one short source; in --enable-check-profile no check stands out, each walks
over all of the headers). So we
write some tens of sources into one unit and look at the headers once. Sources that cannot stand in
one unit, because two of them give one name in unnamed namespaces to different things, go to
different units; a compile without code generation finds them beforehand.

What this loses: a source may use a name that only its neighbour includes. The build finds that.

A source that passed is remembered under the hash of all that its verdict depends on: its text,
the text of our headers it includes (directly or not), the compile command, .clang-tidy and the
version of clang-tidy. Memory lives in $XDG_CACHE_HOME/tidegate/lint, so a clone in another folder
profits from it. Debian's headers are taken as constant; --fresh forgets everything.
"""
import argparse
import bisect
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ("src/", "apps/", "tools/", "tests/", "bench/")
TIDY = "clang-tidy-14"
CLANG = "clang++-14"
MOST_SOURCES_IN_A_UNIT = 32
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.M)
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
FINDING = re.compile(r"^(/[^:\n]+):\d+:\d+: (?:fatal )?(?:error|warning): ", re.M)


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


def include_folders(command):
    """The -I folders of a compile command."""
    words = shlex.split(command)
    return [pathlib.Path(word[2:] or words[i + 1])
            for i, word in enumerate(words) if word.startswith("-I")]


def quoted(path, name, folders):
    """The file that an include of "name" in the file at path means, or nothing."""
    for base in ((ROOT / path).parent, *folders):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def include_closure(path, folders, seen):
    """Adds the file and all of our headers that it reaches to seen."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall((ROOT / path).read_bytes()):
        target = quoted(path, name.decode(), folders)
        if target and target.is_relative_to(ROOT):
            include_closure(target.relative_to(ROOT), folders, seen)


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
    include_closure(path, include_folders(command), files)
    for name in sorted(files):
        digest.update(str(name).encode() + b"\0" + (ROOT / name).read_bytes() + b"\0")
    return digest.hexdigest()


def flags_of(command):
    """What of a compile command concerns the meaning of the source. Defines and include folders
    are sorted away from the rest: a source does not mind one more of them."""
    words = shlex.split(command)[1:]
    extras, rest = set(), []
    while words:
        word = words.pop(0)
        if word in ("-o", "-c"):
            words.pop(0)
        elif word in ("-isystem", "-I", "-D"):
            extras.add((word, words.pop(0)))
        elif word.startswith(("-D", "-I")):
            extras.add((word,))
        elif not word.startswith(("-fPI", "-O")):
            rest.append(word)
    return frozenset(extras), tuple(rest)


def families(commands):
    """Lists of (sources, flags): sources that differ only in defines and include folders, and do
    not contradict each other in a define, can share a unit."""
    found = {}
    for path, command in commands.items():
        extras, rest = flags_of(command)
        for (sources, all_extras) in found.setdefault(rest, []):
            defined = dict(e[0].partition("=")[::2] for e in all_extras if e[0].startswith("-D"))
            mine = dict(e[0].partition("=")[::2] for e in extras if e[0].startswith("-D"))
            if all(defined.get(name, value) == value for name, value in mine.items()):
                sources.append(path)
                all_extras |= extras
                break
        else:
            found[rest].append(([path], set(extras)))
    return [(sources, list(rest) + [word for extra in sorted(extras) for word in extra])
            for rest, members in found.items() for sources, extras in members]


class Unit:
    """Sources written one after another into one file, with the flags they are compiled with."""

    def __init__(self, folder, sources, flags, folders):
        self.folder, self.sources, self.flags = folder, sources, flags
        self.folders = folders  # by source, where its quoted includes are looked for
        self.starts = []  # the line of the unit before each source's first

    def with_sources(self, sources):
        return Unit(self.folder, sources, self.flags, self.folders)

    def write(self):
        """Our text stands in the main file itself, because some checks look nowhere else. A header
        that an earlier source included is left out, else each would be a duplicate. Quoted includes
        are written out: folders of different sources hold different headers of one name."""
        included, lines, self.starts = set(), [], []
        for source in self.sources:
            self.starts.append(len(lines))
            own = set()
            for line in (ROOT / source).read_text().splitlines():
                match = ANY_INCLUDE.match(line)
                if match and match[1] == '"':
                    target = quoted(source, match[2], self.folders.get(source, []))
                    line = f'#include "{target}"' if target else line
                own |= {line} if match else set()
                lines.append("" if match and line in included else line)
            included |= own
        handle, name = tempfile.mkstemp(".cc", "unit_", self.folder, text=True)
        with os.fdopen(handle, "w") as out:
            out.write("\n".join(lines) + "\n")
        return name

    def run(self, before, after=()):
        """What a tool says about the unit, with the sources' places in it; empty if nothing."""
        name = self.write()
        done = subprocess.run([*before, name, *after], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""

        def place(match):
            line = int(match[1])
            which = bisect.bisect_left(self.starts, line) - 1
            return f"{ROOT / self.sources[which]}:{line - self.starts[which]}"
        return re.sub(re.escape(name) + r":(\d+)", place, done.stdout + done.stderr)

    def clashing(self):
        """The sources of the unit at which a compile complains."""
        said = self.run([CLANG, "-fsyntax-only", "-w", "-ferror-limit=0", *self.flags])
        named = {pathlib.Path(name) for name in FINDING.findall(said)}
        found = [source for source in self.sources if ROOT / source in named]
        return found if found or not said else self.sources[1:]

    def lint(self):
        # The flags may be gcc's, with warnings that clang does not have.
        return self.run([TIDY, "--quiet", f"--config-file={ROOT}/.clang-tidy"],
                        ["--", *self.flags, "-Wno-unknown-warning-option"])


def settle(unit):
    """Lints what of the unit can stand together. Returns (source, what is wrong or nothing) of
    those sources, each text given once, and the sources left for another unit. A source alone is
    never left: that it does not compile is then its finding."""
    together, left = unit.sources, []
    while len(together) > 1:
        clashing = unit.with_sources(together).clashing()
        if not clashing:
            break
        clashing = clashing[1:] if len(clashing) == len(together) else clashing
        together = [source for source in together if source not in clashing]
        left += clashing
    output = unit.with_sources(together).lint()
    named = {pathlib.Path(name) for name in FINDING.findall(output)}
    verdicts = []
    for source in together:
        files = set()
        include_closure(source, unit.folders[source], files)
        guilty = output and (not named or any(ROOT / name in named for name in files))
        verdicts.append((source, output if guilty else ""))
        output = output and (" " if guilty else output)
    return verdicts, left


def canary(folder):
    """Fails unless two sources with known findings are found wanting: a lint that reads no
    configuration, or takes a unit's sources for headers, would otherwise pass everything."""
    wrong = {"first.cc": ("class badly_named {};\n", "readability-identifier-naming"),
             "second.cc": ("#include <vector>\nusing std::vector;\n", "misc-unused-using-decls")}
    for name, (text, _) in wrong.items():
        (folder / name).write_text(text)
    said = Unit(folder, [folder / name for name in wrong], ["-std=c++20"], {}).lint()
    for name, (_, check) in wrong.items():
        if not re.search(rf"{name}:\d+.*\[{check}", said):
            sys.exit(f"lint: {TIDY} does not find {check} where it must:\n{said}")


def split(sources, jobs):
    """Shares of about equal length, for all jobs, none too long."""
    count = max(-(-len(sources) // MOST_SOURCES_IN_A_UNIT), min(jobs, len(sources)))
    return [sources[i * len(sources) // count:(i + 1) * len(sources) // count]
            for i in range(count)]


def run_all(commands, keys, cache, jobs):
    """Lints every source of commands; returns those that failed, with what is wrong printed."""
    failed = []
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        folder = pathlib.Path(name)
        canary(folder)
        folders = {source: include_folders(command) for source, command in commands.items()}
        for sources, flags in families(commands):
            while sources:
                units = [Unit(folder, share, flags, folders) for share in split(sources, jobs)]
                sources = []
                for verdicts, left in pool.map(settle, units):
                    sources += left
                    for source, wrong in verdicts:
                        if wrong:
                            failed.append(source)
                            print(wrong, flush=True)
                        else:
                            (cache / keys[source]).touch()
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
    sources = {path: command for path, command in sorted(our_sources(args.build.resolve()).items())
               if not args.only or any(word in str(path) for word in args.only)}
    keys = {path: key_of(path, command, version) for path, command in sources.items()}
    todo = {path: command for path, command in sources.items()
            if args.fresh or not (cache / keys[path]).exists()}
    failed = run_all(todo, keys, cache, args.jobs)
    print(f"lint: {len(sources)} sources, {len(todo)} looked at, {len(failed)} with findings")
    for path in sorted(failed):
        print(f"  {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
