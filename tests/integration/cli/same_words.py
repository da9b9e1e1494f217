#!/usr/bin/env python3
"""same_words.py BINARY ROOT: every command and option that `tidegate --help` shows is in the man
page and is offered by the bash completion, and neither knows one that the program does not have."""
import pathlib
import re
import subprocess
import sys

binary, root = sys.argv[1], pathlib.Path(sys.argv[2])
COMPLETION = root / "apps/tidegate/tidegate.bash"


def help_of(*command):
    return subprocess.run([binary, *command, "--help"], check=True, capture_output=True,
                          text=True).stdout


def options_in(text):
    """Of a help text: the options that stand first on their line."""
    return set(re.findall(r"^\s+(?:-\w,)?(--[a-z][a-z-]+)", text, re.MULTILINE))


def commands():
    listed = help_of().split("Subcommands:")[1].split("Examples:")[0]
    return set(re.findall(r"^  (\w+) ", listed, re.MULTILINE))


def sections_of_man():
    """The options by the command in whose section they stand."""
    page = (root / "docs/man/tidegate.1").read_text().replace("\\-", "-")
    page = page.split(".SH COMMANDS")[1].split(".SH SIGNALS")[0]
    parts = re.split(r"^\.SS (\w+)\n", page, flags=re.MULTILINE)[1:]
    return {name: set(re.findall(r"^\.B[IR]? (--[a-z][a-z-]+)", text, re.MULTILINE))
            for name, text in zip(parts[::2], parts[1::2])}


def completed(*words):
    """What the completion offers for the last of these words."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tidegate; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", str(COMPLETION), "tidegate", *words],
                          check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def main():
    wrong = []

    def same(what, found, right):
        if found != right:
            wrong.append(f"{what}: lacks {sorted(right - found)}, has {sorted(found - right)} "
                         "that the program does not have")

    known = commands()
    if not known:
        sys.exit("--help lists no command")
    man = sections_of_man()
    same("man page, commands", set(man), known)
    same("completion, commands", completed("") - {"--help", "--version"}, known)
    for command in sorted(known):
        options = options_in(help_of(command))
        same(f"completion of {command}", completed(command, "--"), options)
        same(f"man page of {command}", man.get(command, set()), options - {"--help"})
    sys.exit("\n".join(wrong) or 0)


main()
