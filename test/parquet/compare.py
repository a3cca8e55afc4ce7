# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Compares rows that hyparquet read with what `ktrace show --json` and `ktrace sql --json` print.

    compare.py SHOWN CALLS EVENT SCHED SYSCALL

SHOWN: output of `ktrace show --json`. CALLS: rows of the table syscalls of `ktrace sql`. EVENT, SCHED, SYSCALL: rows
of the three tables, a JSON object a line. Prints the first differences.
"""
import json
import sys


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


shown, calls, events, sched, syscalls = map(rows, sys.argv[1:])
expected, lost = [], 0
for line in shown:
    if "lost" in line:
        lost = line["lost"]
        continue
    expected.append((round(line["time"] * 1e9), line["cpu"], line["thread"], line.get("name"), line["event"],
                     line.get("context", "thread"), lost or None, line["args"]))
    lost = 0
found = [(e["ts"], e["cpu"], e["thread"], e["thread_name"], e["name"], e["context"], e["lost"],
          json.loads(e["fields"])) for e in events]
for pair in [pair for pair in zip(expected, found) if pair[0] != pair[1]][:5]:
    print("expected %s\nread     %s" % pair)
if len(expected) != len(found):
    print("events: expected %d, read %d" % (len(expected), len(found)))

expected = sorted(str((c["ts"], c["duration"], c["cpu"], c["thread"], c["number"], c["result"])) for c in calls)
found = sorted(str((c["ts"], c["duration"], c["cpu"], c["thread"], c["number"], c["result"])) for c in syscalls)
for line in sorted(set(found) ^ set(expected))[:5]:
    print("system calls differ: %s" % line)

# No thread runs on two CPUs, and no CPU runs two threads.
for name in ("cpu", "thread"):
    ends = {}
    for row in sorted(sched, key=lambda row: row["ts"]):
        if row["ts"] < ends.get(row[name], 0) and row["thread"] != 0:
            print("%s %d: two slices at %d" % (name, row[name], row["ts"]))
        ends[row[name]] = row["ts"] + (row["duration"] or 0)
if not sched and any(e["name"] == "sched.switch" for e in events):
    print("no time on a CPU")
