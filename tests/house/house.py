#!/usr/bin/env python3
"""Holds the tree to the house rules of docs/architecture.md; prints one line per violation.

Rules (the word in brackets opens each line that house.py prints, and names it in exceptions.txt):
  arrow            a room includes only the rooms that rooms.txt allows, and CMake says the same
  cycle            neither the rooms nor the headers include each other in a circle
  impure-include   pure rooms include no header of clocks, threads, I/O, logs or random devices
  impure-use       ... and use no such function, and no distribution of std
  floating         what decides is in integers
  hash-order       pure rooms do not iterate over unordered containers
  function-length, file-length, line-length
  name             no Manager, Helper, Util; a room's code is in the namespace of its folder
  header           starts with a paragraph, has #pragma once, and is the first include of its .cc
  test-law         each test has a sentence above it that states the law it checks
  leftover         no unfinished-work marks
  machine-path     nothing that holds on one machine only

The C++ is read with comments and strings blanked out, not parsed: good enough to rank and to
reject, and it runs in a second. The selftest beside this file seeds each violation.
"""
import argparse
import bisect
import pathlib
import re
import subprocess
import sys

FUNCTION_LINES, FILE_LINES, LINE_COLUMNS = 70, 600, 100
HERE = pathlib.Path(__file__).resolve().parent

IMPURE_HEADERS = re.compile(
    r"chrono|ctime|time\.h|thread|mutex|shared_mutex|atomic|condition_variable|future|semaphore|"
    r"latch|barrier|stop_token|iostream|istream|ostream|fstream|cstdio|stdio\.h|syncstream|print|"
    r"random|filesystem|unistd\.h|fcntl\.h|pthread\.h|sched\.h|signal\.h|csignal|sys/.*|spdlog/.*|"
    r"boost/asio.*|boost/beast.*|prometheus/.*|openssl/.*")
IMPURE_USES = re.compile(
    r"\b(?:std::)?(?:getenv|secure_getenv|srand|rand|rand_r|drand48|gettimeofday|clock_gettime|"
    r"timespec_get|time|clock|sleep|usleep|nanosleep|printf|fprintf|puts|system|syscall)\s*\(|"
    r"\bstd::(?:chrono|thread|jthread|mutex|atomic|condition_variable|random_device|mt19937\w*|"
    r"default_random_engine|\w+_distribution|shuffle|sample|cout|cerr|clog|cin|hash)\b|"
    r"\bthread_local\b|\bspdlog::|\b\w+_clock\b")
UNORDERED = re.compile(r"\b(?:std|boost|absl)::(?:unordered_\w+|flat_hash_\w+)\s*<")
TEST_MACRO = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_(?:FIXTURE_)?PROP)\(")
BANNED_NAME = re.compile(r"\b(?:class|struct|enum(?:\s+class)?|namespace|using)\s+"
                         r"(\w*(?:Manager|Helper|Util)s?|(?:managers?|helpers?|utils?))\b")
BANNED_FILE = re.compile(r"(?:^|[/_.-])(?:managers?|helpers?|utils?)(?=[/_.-]|$)", re.I)
# The brackets keep these patterns from matching themselves.
LEFTOVER = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:(?:[w]ork|[f]arm|[r]oot|[h]ome)/|[t]mp/[a-z])|"
                          r"[r]egistry\.npmjs|[d]eb\.debian\.org")


# ---- reading ---------------------------------------------------------------------------------

class Tree:
    """The files under a root: all that git does not ignore, or all where there is no git."""

    def __init__(self, root, allowed_arrows, marks, exceptions):
        self.root, self.exceptions = root, exceptions
        self.arrows, self.marks = allowed_arrows, marks
        self.files = list_files(root)
        self.violations = []
        self.text = {}
        self.code = {}
        for path in self.files:
            data = (root / path).read_bytes()
            if b"\0" in data[:8192]:
                continue
            self.text[path] = data.decode("utf-8", errors="replace")
            if path.endswith((".h", ".cc")):
                self.code[path] = blank_comments_and_strings(self.text[path])

    def report(self, rule, path, line, message):
        if (rule, path) not in self.exceptions:
            self.violations.append(f"{rule}: {path}:{line}: {message}")


def list_files(root):
    if (root / ".git").exists():
        done = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                              capture_output=True, check=True)
        names = {name.decode() for name in done.stdout.split(b"\0") if name}
        return sorted(name for name in names if (root / name).is_file())
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?s:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|'
                   r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)


def blank_comments_and_strings(text):
    """The same text with comments and the inside of literals as spaces; include lines stay."""
    def blank(match):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match[0].startswith('"') and text[line_start:match.start()].strip() == "#include":
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])
    return TOKEN.sub(blank, text)


def read_rooms(path):
    """rooms.txt -> ({room: [rooms it may include]}, {room: its marks})."""
    arrows, marks = {}, {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            left, _, right = line.partition(":")
            name, *words = left.split()
            marks[name] = words
            arrows[name] = right.split()
    return arrows, marks


def read_exceptions(path):
    lines = [line.split(maxsplit=2) for line in path.read_text().splitlines()
             if line and not line.startswith("#")]
    return {(rule, file) for rule, file, _reason in lines}


def room_of(path):
    parts = path.split("/")
    if parts[0] == "apps":
        return "apps"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def lines_of(text):
    return enumerate(text.split("\n"), 1)


def marked(tree, mark):
    """The C++ files of the rooms with the mark."""
    return [path for path in tree.code if mark in tree.marks.get(room_of(path), ())]


# ---- the include graph -----------------------------------------------------------------------

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def includes(tree, path):
    """(line, name, is quoted) of each include of the file."""
    for number, line in lines_of(tree.code[path]):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] or match[2], match[1] is not None


def check_arrows(tree):
    for path in tree.code:
        room = room_of(path)
        if room is None:
            continue
        if room not in tree.arrows:
            tree.report("arrow", path, 1, f"the room {room} is not in rooms.txt")
            continue
        for number, name, quoted in includes(tree, path):
            target = room_of("src/" + name) if quoted else None
            if quoted and room != "apps" and "src/" + name not in tree.code:
                tree.report("arrow", path, number, f'"{name}" is no file of src/')
            if target and target != room and target not in tree.arrows[room]:
                tree.report("arrow", path, number, f"{room} may not see {target} ({name})")


def check_cmake_arrows(tree):
    """What CMake links between rooms is within the table, too."""
    for path, text in tree.text.items():
        match = re.search(r"tidegate_room\(\s*(\w+)(.*?)\)", re.sub(r"#[^\n]*", "", text), re.S)
        if not (match and path.startswith("src/") and path.endswith("CMakeLists.txt")):
            continue
        room, rest = match[1], match[2]
        named = re.findall(r"tidegate::(\w+)", rest)
        depends = re.search(r"\bDEPENDS\b((?:\s+[a-z_]+\b)*)", rest)
        for target in named + (depends[1].split() if depends else []):
            if target not in tree.arrows.get(room, []):
                tree.report("arrow", path, 1, f"{room} may not link {target}")


def find_cycle(graph):
    """A list of nodes that closes a circle, or None."""
    state, trail = {}, []

    def visit(node):
        state[node] = "open"
        trail.append(node)
        for target in graph.get(node, ()):
            if state.get(target) == "open":
                return trail[trail.index(target):] + [target]
            if target not in state:
                circle = visit(target)
                if circle:
                    return circle
        state[node] = "done"
        trail.pop()
        return None

    for start in graph:
        if start not in state:
            circle = visit(start)
            if circle:
                return circle
    return None


def check_cycles(tree):
    files = {path: ["src/" + name for _, name, quoted in includes(tree, path)
                    if quoted and "src/" + name in tree.code] for path in tree.code}
    for graph, where in ((tree.arrows, "tests/house/rooms.txt"), (files, None)):
        circle = find_cycle(graph)
        if circle:
            tree.report("cycle", where or circle[0], 1, " -> ".join(circle))


# ---- purity ----------------------------------------------------------------------------------

def check_purity(tree):
    for path in marked(tree, "pure"):
        for number, name, quoted in includes(tree, path):
            if not quoted and IMPURE_HEADERS.fullmatch(name):
                tree.report("impure-include", path, number, f"a pure room includes <{name}>")
        for number, line in lines_of(tree.code[path]):
            match = None if INCLUDE.match(line) else IMPURE_USES.search(line)
            if match and not (match[0] == "std::hash" and "struct std::hash" in line):
                tree.report("impure-use", path, number, f"a pure room uses {match[0].rstrip('( ')}")


def check_floating(tree):
    for path in marked(tree, "integer"):
        for number, line in lines_of(tree.code[path]):
            match = re.search(r"\b(?:double|float)\b", line)
            if match:
                tree.report("floating", path, number, f"{match[0]} where decisions are made")


def after_template_arguments(code, start):
    """The index behind the `>` that closes the `<` before start."""
    depth = 1
    while depth and start < len(code):
        depth += {"<": 1, ">": -1}.get(code[start], 0)
        start += 1
    return start


def unordered_names(code):
    """Names of variables and members that are unordered containers, aliases followed once."""
    names, aliases = set(), set()
    for match in UNORDERED.finditer(code):
        before = code[:match.start()].rsplit("\n", 1)[-1]
        alias = re.search(r"\busing\s+(\w+)\s*=\s*$", before)
        if alias:
            aliases.add(alias[1])
            continue
        after = code[after_template_arguments(code, match.end()):]
        name = re.match(r"[\s&*]*(\w+)", after)
        if name:
            names.add(name[1])
    for alias in aliases:
        names.update(re.findall(rf"\b{alias}\b[\s&*]+(\w+)", code))
    return names


def check_hash_order(tree):
    for path in marked(tree, "pure"):
        seen = [path] + ["src/" + name for _, name, quoted in includes(tree, path) if quoted]
        names = set().union(*(unordered_names(tree.code[p]) for p in seen if p in tree.code))
        if not names:
            continue
        either = "|".join(map(re.escape, sorted(names)))
        walk = re.compile(rf"\bfor\s*\([^;()]*:\s*[\w.>()-]*\b({either})\s*\)|"
                          rf"\b({either})\s*(?:\.|->)\s*c?r?begin\s*\(|"
                          rf"\bstd::(?:erase_if|ranges::\w+)\s*\(\s*[\w.>-]*\b({either})\b")
        for match in walk.finditer(tree.code[path]):
            number = tree.code[path].count("\n", 0, match.start()) + 1
            name = next(filter(None, match.groups()))
            tree.report("hash-order", path, number, f"iterates over {name} in hash order")


# ---- sizes -----------------------------------------------------------------------------------

CONTAINER = re.compile(r"\b(?:namespace|extern|class|struct|union|enum)\b[^()]*$")
FUNCTION = re.compile(r"\)[^;{}=]*$")


def functions(code):
    """(first line, last line) of each block that follows a parameter list, signature included.
    Blocks inside a function count too; the function around them is at least as long."""
    starts = [0] + [m.end() for m in re.finditer("\n", code)]
    found, heads, mark = [], [], 0      # mark: where the text before the next `{` begins
    for match in re.finditer(r"[{};]", code):
        if match[0] == "{":
            heads.append((code[mark:match.start()], mark))
        elif match[0] == "}" and heads:
            head, begin = heads.pop()
            if FUNCTION.search(head) and not CONTAINER.search(head):
                begin += len(head) - len(head.lstrip())
                found.append((bisect.bisect_right(starts, begin),
                              bisect.bisect_right(starts, match.start())))
        mark = match.end()
    return found


def check_sizes(tree):
    for path, code in tree.code.items():
        for first, last in functions(code):
            if last - first + 1 > FUNCTION_LINES:
                tree.report("function-length", path, first,
                            f"{last - first + 1} lines; at most {FUNCTION_LINES}")
    for path, text in tree.text.items():
        if not path.endswith((".h", ".cc", ".py", ".sh", ".cmake", "CMakeLists.txt", ".mjs")):
            continue
        if path.startswith("models/"):
            continue
        count = text.count("\n")
        if count > FILE_LINES:
            tree.report("file-length", path, 1, f"{count} lines; at most {FILE_LINES}")
        for number, line in lines_of(text):
            if len(line) > LINE_COLUMNS:
                tree.report("line-length", path, number, f"{len(line)} columns")


# ---- names, headers, tests, leftovers --------------------------------------------------------

def check_names(tree):
    for path, code in tree.code.items():
        for number, line in lines_of(code):
            match = BANNED_NAME.search(line)
            if match:
                tree.report("name", path, number, f"{match[1]} says nothing; name what it does")
        room = room_of(path)
        if room and room != "apps" and not re.search(rf"\bnamespace tidegate::{room}\b", code):
            tree.report("name", path, 1, f"no namespace tidegate::{room}")
    for path in tree.text:
        if BANNED_FILE.search(path) and not path.startswith("models/"):
            tree.report("name", path, 1, "the file's name says nothing; name what it holds")


def check_headers(tree):
    for path in tree.code:
        if path.endswith(".h"):
            if not tree.text[path].startswith("// "):
                tree.report("header", path, 1, "must open with a paragraph: what, why, threading")
            if not re.search(r"^#pragma once$", tree.code[path], re.M):
                tree.report("header", path, 1, "no #pragma once")
        elif path.startswith("src/") and path[:-3] + ".h" in tree.code:
            first = next((name for _, name, _ in includes(tree, path)), None)
            if first is None or "src/" + first != path[:-3] + ".h":
                tree.report("header", path, 1, "must include its own header first, so that the "
                            "header is shown to compile alone")


def check_tests(tree):
    for path, text in tree.text.items():
        if not (path.startswith("tests/") and path.endswith(".cc")):
            continue
        lines = text.split("\n")
        for number, line in lines_of(text):
            if TEST_MACRO.match(line) and not lines[number - 2].startswith("//"):
                tree.report("test-law", path, number, "no sentence above the test states its law")


def check_leftovers(tree):
    for path, text in tree.text.items():
        if path.endswith("package-lock.json"):
            continue
        for number, line in lines_of(text):
            if LEFTOVER.search(line):
                tree.report("leftover", path, number, line.strip()[:60])
            if MACHINE_PATH.search(line):
                tree.report("machine-path", path, number, line.strip()[:60])


def check_table_in_docs(tree, table):
    """docs/architecture.md shows the table of rooms.txt, word for word."""
    docs = tree.text.get("docs/architecture.md")
    rows = "\n".join(line for line in table.splitlines() if line and not line.startswith("#"))
    if docs is not None and rows not in docs:
        tree.report("arrow", "docs/architecture.md", 1, "its table of rooms is not rooms.txt")


# ---- all of it -------------------------------------------------------------------------------

def check(root, here=HERE):
    """The violations of the tree under root, as lines; an empty list is a tidy house."""
    arrows, marks = read_rooms(here / "rooms.txt")
    tree = Tree(root, arrows, marks, read_exceptions(here / "exceptions.txt"))
    for rule in (check_arrows, check_cmake_arrows, check_cycles, check_purity, check_floating,
                 check_hash_order, check_sizes, check_names, check_headers, check_tests,
                 check_leftovers):
        rule(tree)
    check_table_in_docs(tree, (here / "rooms.txt").read_text())
    return tree.violations


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parents[1])
    parser.add_argument("--list-pure-targets", action="store_true",
                        help="print the CMake targets of the pure rooms that have sources")
    args = parser.parse_args()
    if args.list_pure_targets:
        _, marks = read_rooms(HERE / "rooms.txt")
        for room in sorted(room for room, words in marks.items() if "pure" in words):
            if any((args.root / "src" / room).rglob("*.cc")):
                print(f"tidegate_{room}")
        return 0
    violations = check(args.root)
    print("\n".join(violations) if violations else "house: in order")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
