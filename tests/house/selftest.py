#!/usr/bin/env python3
"""Shows that house.py finds each kind of violation, and is silent on what is allowed.

Each case lays a small tree in a temporary folder. A checker that cannot fail checks nothing.
"""
import pathlib
import tempfile
import unittest

import house

HEADER = "// A value. Thread-safe.\n#pragma once\n\nnamespace tidegate::{room} {{\n{body}\n}}\n"


def header(room, body="struct Thing {};"):
    return HEADER.format(room=room, body=body)


def violations(files):
    """What house.py says of a tree that holds these files: {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return house.check(root)


class Case(unittest.TestCase):
    def finds(self, rule, files, times=1):
        found = violations(files)
        self.assertEqual([line.split(":")[0] for line in found], [rule] * times, found)

    def allows(self, files):
        self.assertEqual(violations(files), [])


def with_include(room, *lines):
    text = header(room)
    return text.replace("#pragma once\n", "#pragma once\n" + "\n".join(lines) + "\n")


class Arrows(Case):
    def test_an_arrow_down_is_allowed(self):
        self.allows({"src/pool/a.h": with_include("pool", '#include "cost/b.h"'),
                     "src/cost/b.h": header("cost")})

    def test_an_arrow_up_or_sideways_is_found(self):
        for source, target in (("cost", "pool"), ("pool", "batch"), ("batch", "pool"),
                               ("net", "gateway"), ("units", "domain")):
            self.finds("arrow", {f"src/{source}/a.h": with_include(source,
                                                                   f'#include "{target}/b.h"'),
                                 f"src/{target}/b.h": header(target)})

    def test_an_unknown_room_is_found(self):
        self.finds("arrow", {"src/attic/a.h": header("attic")})

    def test_an_include_of_no_file_is_found(self):
        self.finds("arrow", {"src/pool/a.h": with_include("pool", '#include "b.h"')})

    def test_a_forbidden_link_in_cmake_is_found(self):
        self.finds("arrow", {"src/pool/CMakeLists.txt":
                             "tidegate_room(pool SOURCES a.cc\n  DEPENDS cost gateway)\n"})
        self.finds("arrow", {"src/pool/CMakeLists.txt":
                             "tidegate_room(pool LIBRARIES tidegate::net)\n"})

    def test_a_circle_of_headers_is_found(self):
        self.finds("cycle", {"src/pool/a.h": with_include("pool", '#include "pool/b.h"'),
                             "src/pool/b.h": with_include("pool", '#include "pool/a.h"')})

    def test_a_circle_of_rooms_is_found(self):
        self.assertEqual(house.find_cycle({"a": ["b"], "b": ["c"], "c": ["a"]}),
                         ["a", "b", "c", "a"])
        self.assertIsNone(house.find_cycle({"a": ["b", "c"], "b": ["c"], "c": []}))

    def test_docs_that_show_another_table_are_found(self):
        self.finds("arrow", {"docs/architecture.md": "units: everything\n"})


class Purity(Case):
    def test_headers_of_the_world_are_found_in_pure_rooms_only(self):
        for name in ("chrono", "thread", "mutex", "atomic", "iostream", "random", "fstream",
                     "spdlog/spdlog.h", "boost/asio/io_context.hpp"):
            include = f"#include <{name}>"
            self.finds("impure-include", {"src/pool/a.h": with_include("pool", include)})
            self.allows({"src/net/a.h": with_include("net", include)})

    def test_uses_of_the_world_are_found(self):
        for use in ("std::getenv(\"X\")", "rand()", "std::chrono::seconds(1)", "time(nullptr)",
                    "std::uniform_int_distribution<int>(0, 1)", "std::shuffle(a, b, c)",
                    "std::random_device{}()", "std::this_thread::x, std::mutex{}",
                    "printf(\"x\")", "std::hash<int>{}(1)"):
            body = f"inline void go() {{ {use}; }}"
            self.finds("impure-use", {"src/batch/a.h": header("batch", body)})
            self.allows({"src/gateway/a.h": header("gateway", body)})

    def test_floating_point_in_a_room_that_decides_is_found(self):
        self.finds("floating", {"src/pool/a.h": header("pool", "double share();  // float")})
        self.allows({"src/engines/a.h": header("engines", "float temperature();")})

    def test_words_in_comments_strings_and_names_are_not_uses(self):
        self.allows({"src/batch/a.h": header(
            "batch", '// getenv( and std::mutex\nconst char* kText = "rand() std::thread";\n'
            "int wall_time(int x);\nint runtime(int x);")})

    def test_iteration_in_hash_order_is_found(self):
        member = "struct S {{ std::unordered_map<int, Tokens<int>> m_;\nvoid f() {{ {} }} }};"
        for use in ("for (auto& [k, v] : m_) k;", "auto i = m_.begin();"):
            self.finds("hash-order", {"src/pool/a.h": header("pool", member.format(use))})
        self.allows({"src/pool/a.h": header("pool", member.format("m_.find(3);"))})

    def test_iteration_over_an_alias_declared_in_a_header_is_found(self):
        self.finds("hash-order", {
            "src/pool/a.h": header("pool", "using Map = std::unordered_map<int, int>;\n"
                                           "struct S { Map by_id_; void f(); };"),
            "src/pool/a.cc": '#include "pool/a.h"\nnamespace tidegate::pool {\n'
                             "void S::f() { for (auto e : by_id_) e; }\n}\n"})


class Sizes(Case):
    def function(self, lines):
        return header("net", "inline int f(int a) {\n" + "  a++;\n" * (lines - 2) + "}")

    def test_a_function_of_70_lines_is_allowed_and_one_of_71_is_found(self):
        self.allows({"src/net/a.h": self.function(70)})
        self.finds("function-length", {"src/net/a.h": self.function(71)})

    def test_a_long_class_or_table_is_no_function(self):
        self.allows({"src/net/a.h": header("net", "struct S {\n" + "  int f();\n" * 90 + "};\n"
                                           "constexpr int kTable[] = {\n" + "  1,\n" * 90 + "};")})

    def test_a_file_of_601_lines_is_found(self):
        text = header("net", "int f();\n" * 594)
        self.allows({"src/net/a.h": text[:text.rindex("int f();\n")] + "}\n"})
        self.finds("file-length", {"src/net/a.h": header("net", "int f();\n" * 600)})

    def test_a_line_of_101_columns_is_found(self):
        self.finds("line-length", {"src/net/a.cc": "namespace tidegate::net {}  // " + "x" * 71})


class Names(Case):
    def test_empty_names_are_found(self):
        for name in ("class QueueManager;", "struct Helper;", "namespace utils {}"):
            self.finds("name", {"src/net/a.h": header("net", name)})
        self.finds("name", {"src/net/string_util.h": header("net")})
        self.allows({"src/net/a.h": header("net", "struct Utilisation;")})

    def test_a_foreign_namespace_is_found(self):
        self.finds("name", {"src/net/a.h": header("gateway")})

    def test_headers_without_paragraph_or_guard_are_found(self):
        self.finds("header", {"src/net/a.h": header("net").split("\n", 1)[1]})
        self.finds("header", {"src/net/a.h": header("net").replace("#pragma once", "")})

    def test_a_source_that_hides_its_header_behind_another_is_found(self):
        files = {"src/net/a.h": header("net"),
                 "src/net/a.cc": '#include <vector>\n#include "net/a.h"\n'
                                 "namespace tidegate::net {}\n"}
        self.finds("header", files)

    def test_a_test_without_a_law_is_found(self):
        self.finds("test-law", {"tests/unit/net/a.cc": "TEST(Net, Works) {}\n"})
        self.allows({"tests/unit/net/a.cc": "// What goes in comes out.\nTEST(Net, Works) {}\n"})

    def test_leftovers_and_machine_paths_are_found(self):
        self.finds("leftover", {"docs/a.md": "TO" "DO: finish\n"})
        for path in ("/wo" "rk/x", "/ro" "ot/x", "/t" "mp/x"):
            self.finds("machine-path", {"docs/a.md": f"see {path}\n"})
        self.allows({"docs/a.md": "the work/rest ratio, $HOME/x and build/tmp/x\n"})


if __name__ == "__main__":
    unittest.main()
