# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Compares rows that hyparquet read with what `ktrace show --json` and `ktrace sql --json` print.

    compare.py SHOWN CALLS STATES EVENT SCHED SYSCALL

SHOWN: output of `ktrace show --json`. CALLS, STATES: rows of the tables syscalls and thread_states of `ktrace sql`. EVENT,
SCHED, SYSCALL: rows of the three tables, a JSON object a line. Prints the first differences.
"""
import json
import sys


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


shown, calls, states, events, sched, syscalls = map(rows, sys.argv[1:])
calls, states = [[row for row in table if "ts" in row] for table in (calls, states)]
# The export gives events with the same timestamp different times, so times may differ by some ns.
NEAR = 40


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= NEAR)


def compare(what, expected, found):
    """Compares lists of (thread, ts, duration, ...)."""
    expected, found = [sorted(rows, key=lambda row: row[:2]) for rows in (expected, found)]
    if len(expected) != len(found):
        print("%s: expected %d rows, read %d" % (what, len(expected), len(found)))
    for a, b in [(a, b) for a, b in zip(expected, found)
                 if a[0] != b[0] or a[3:] != b[3:] or not near(a[1], b[1]) or not near(a[2], b[2])][:5]:
        print("%s: expected %s\n%s: read     %s" % (what, a, what, b))


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
for pair in [pair for pair in zip(expected, found)
             if pair[0][1:] != pair[1][1:] or not near(pair[0][0], pair[1][0])][:5]:
    print("expected %s\nread     %s" % pair)
if len(expected) != len(found):
    print("events: expected %d, read %d" % (len(expected), len(found)))

compare("system calls", *([(c["thread"], c["ts"], c["duration"], c["cpu"], c["number"], c["result"]) for c in table]
                          for table in (calls, syscalls)))
# Thread 0 may run on several CPUs at the same time. In thread_states, such times end each other.
compare("times on CPUs", *([(s["thread"], s["ts"], s["duration"], s["cpu"]) for s in table if s["thread"] != 0]
                           for table in (states, sched)))

# No thread runs on two CPUs, and no CPU runs two threads.
for name in ("cpu", "thread"):
    ends = {}
    for row in sorted(sched, key=lambda row: row["ts"]):
        if row["ts"] < ends.get(row[name], 0) and row["thread"] != 0:
            print("%s %d: two slices at %d" % (name, row[name], row["ts"]))
        ends[row[name]] = row["ts"] + (row["duration"] or 0)
if not sched and any(e["name"] == "sched.switch" for e in events):
    print("no time on a CPU")
