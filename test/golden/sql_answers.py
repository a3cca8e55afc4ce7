# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# sql_answers.py DIRECTORY LINES: answers questions about a trace from the lines of `ktrace show --json --ids`, without
# ktrace's models. Writes the answer to question NAME to FOLDER/NAME, as CSV without a header.
import collections
import json
import sys

folder, lines = sys.argv[1:]
events, lost = [], []
for line in open(lines, encoding="utf-8", errors="surrogateescape"):
    item = json.loads(line, parse_float=lambda text: int(text.replace(".", "")))
    (lost if "lost" in item else events).append(item)
last = max(e["time"] for e in events)
early, late = last // 4, last // 2


def answer(name, rows):
    with open(f"{folder}/{name}", "w", encoding="utf-8") as out:
        for row in rows:
            out.write(",".join("" if cell is None else str(cell) for cell in row) + "\n")


def count(keys):
    return sorted(collections.Counter(keys).items())


def table(keys):
    return [(*key, n) if isinstance(key, tuple) else (key, n) for key, n in count(keys)]


answer("bounds", [(early, late)])
answer("all", [(len(events),)])
answer("by_name", table(e["event"] for e in events))
answer("by_thread", table(e["thread"] for e in events))
answer("by_cpu", table(e["cpu"] for e in events))
answer("by_cpu_and_name", table((e["cpu"], e["event"]) for e in events))
answer("window", [(e["id"], e["time"]) for e in events if early <= e["time"] <= late])
answer("window_times", [(e["time"], e["thread"], e["event"]) for e in events if early <= e["time"] <= late])
answer("either", sorted((e["id"],) for e in events if e["time"] < early or e["cpu"] == 1))
answer("some_names", table(e["event"] for e in events if e["event"].lower().startswith("sys") and e["cpu"] in (0, 1)))
answer("first_and_last", sorted((n, min(t), max(t)) for n, t in
                                ((n, [e["time"] for e in events if e["event"] == n])
                                 for n in {e["event"] for e in events})))
exits = [e for e in events if e["event"] in ("syscall.exit", "SYSCALL_EXIT")]
answer("results", [(len(exits), sum(e["args"]["result"] for e in exits))])
answer("json", [(sum(e["args"]["nr"] for e in exits),)])
at = collections.Counter(e["time"] for e in events)
here = collections.Counter((e["time"], e["cpu"]) for e in events)
answer("pairs", [(sum(at[e["time"]] - here[e["time"], e["cpu"]] for e in exits),)])
answer("lost", [(sum(item["lost"] for item in lost),)])

# Pairs calls and returns by thread. Does not handle lost slots, because this query is only used on a trace
# without losses.
begun, calls = {}, []
for e in events:
    if e["event"] == "syscall.enter":
        begun[e["thread"]] = e
    elif e["event"] == "syscall.exit" and e["thread"] in begun:
        b = begun.pop(e["thread"])
        calls.append((b["time"], e["time"] - b["time"], b["thread"], e["args"]["result"]))
answer("calls", [] if lost else sorted(calls))
