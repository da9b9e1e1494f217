#!/usr/bin/env python3
"""budgets.py POOL.json STEP.json: Google Benchmark results beside the budgets of
docs/architecture.md, one line each. Exit status 1 when a budget is passed."""
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["benchmarks"]


def pool_lines(results):
    """The pool's budget is 5 us at the median and 50 us at the 99th percentile with 64 engines, and
    100 us at the 99th percentile with 1,024."""
    for result in results:
        name, scale = result["name"].split("/")[:2]
        if scale == "64_engines":
            yield f"pool {name} {scale} p50", result["p50_ns"], 5_000
            yield f"pool {name} {scale} p99", result["p99_ns"], 50_000
        else:
            yield f"pool {name} {scale} p99", result["p99_ns"], 100_000


def step_lines(results):
    """A step's budget is 1 us for each running request, and 200 us at 1,000 of them."""
    for result in results:
        name, running = result["name"].split("/")[:2]
        running = int(running)
        budget = min(1_000 * running, 200_000)
        yield f"step {name} at {running}", result["compose_ns"], budget


def main():
    lines = [*pool_lines(load(sys.argv[1])), *step_lines(load(sys.argv[2]))]
    passed = [line for line in lines if line[1] > line[2]]
    print(f"{'':42} {'measured':>12} {'budget':>12}")
    for name, measured, budget in lines:
        mark = "" if measured <= budget else "   over"
        print(f"{name:42} {measured / 1000:9.2f} us {budget / 1000:9.2f} us{mark}")
    sys.exit(1 if passed else 0)


if __name__ == "__main__":
    main()
