# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Compares what babeltrace2 read with what `ktrace show --json` prints.

    ctf_compare.py SHOWN READ MESSAGES

SHOWN: output of `ktrace show --json`. READ, MESSAGES: output and error output of `babeltrace2 --clock-seconds
--no-delta`. Prints the first differences, and fails if there are any.
"""
import json
import re
import sys

NAMES = {
    "sched.switch": "sched_switch", "sched.wake": "sched_wakeup", "sched.create": "sched_process_fork",
    "sched.exit": "sched_process_exit", "irq.enter": "irq_handler_entry", "irq.exit": "irq_handler_exit",
}
LINE = re.compile(r"\[(\d+)\.(\d{9})\] (.+?): \{ cpu_id = (\d+) \}, \{ tid = (-?\d+), context = (\d+), "
                  r"_places_length = \d+, places = \[.*?\] \}, \{ ?(.*?) ?\}$")
VALUE = re.compile(r'= (?:"((?:[^"\\]|\\.)*)"|(-?(?:0x[0-9A-F]+|\d+)))(?=[, }]|$)')


def value(number):
    """Makes values of both sides comparable."""
    if isinstance(number, bool):
        return int(number)
    if isinstance(number, str) and re.fullmatch(r"0x[0-9a-f]+", number):
        return int(number, 16)
    if isinstance(number, str):
        return "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in number)
    return number


def shown(lines):
    events, lost, begun = [], 0, set()
    for line in map(json.loads, lines):
        if "lost" in line:
            lost += line["lost"] if line["cpu"] in begun else 0
            continue
        begun.add(line["cpu"])
        name, values = line["event"], [value(v) for v in line["args"].values()]
        if name in ("syscall.enter", "syscall.exit"):
            call = line.get("call", str(line["args"]["nr"]))
            name = ("syscall_entry_" if name == "syscall.enter" else "syscall_exit_") + call
        elif name.startswith("UNKNOWN"):
            values = list(bytes.fromhex(line["args"]["data"]))
            name = "ktrace.raw"
        context = {"irq": 1, "nmi": 2, "early": 3}.get(line.get("context"), 0)
        nanoseconds = round(line["time"] * 1e9)
        events.append((nanoseconds, line["cpu"], line["thread"], context, NAMES.get(name, name), values))
    return events, lost


def read(lines):
    events = []
    for line in lines:
        match = LINE.match(line.rstrip("\n"))
        if not match:
            sys.exit("not understood: " + line)
        seconds, nanoseconds, name, cpu, tid, context, fields = match.groups()
        if "ktrace = {" in fields:
            fields = fields[fields.index("ktrace = {"):]
        values = [int(n, 0) if n else json.loads('"%s"' % text) for text, n in VALUE.findall(fields)]
        if name == "ktrace.raw":
            values = [int(n) for n in re.findall(r"\[\d+\] = (\d+)", fields)]
        events.append((int(seconds) * 10**9 + int(nanoseconds), int(cpu), int(tid), int(context), name, values))
    first = min(event[0] for event in events)
    return [(event[0] - first,) + event[1:] for event in events]


def key(event):
    return event[:5] + (str(event[5]),)


with open(sys.argv[1], encoding="utf-8") as file:
    expected, lost = shown(file)
with open(sys.argv[2], encoding="utf-8") as file:
    found = read(file)
with open(sys.argv[3], encoding="utf-8") as file:
    discarded = sum(map(int, re.findall(r"Tracer discarded (\d+) events?", file.read())))
differences = [(e, f) for e, f in zip(sorted(expected, key=key), sorted(found, key=key)) if key(e) != key(f)]
for pair in differences[:5]:
    print("expected %s\nread     %s" % pair)
if len(expected) != len(found):
    print("events: expected %d, read %d" % (len(expected), len(found)))
if lost != discarded:
    print("lost: expected %d, read %d" % (lost, discarded))
sys.exit(bool(differences) or len(expected) != len(found) or lost != discarded)
