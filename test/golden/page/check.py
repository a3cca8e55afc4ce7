# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Checks pages against what other commands print for the same trace.

    python3 test/golden/page/check.py KTRACE PAGE TRACE [OPTION...]
    python3 test/golden/page/check.py --text PAGE       prints the texts in the fields of events
    python3 test/golden/page/check.py --strings PAGE    prints all strings of the blocks
    python3 test/golden/page/check.py --words PAGE      prints all strings of the blocks and of the head, but the
                                                        event types
    python3 test/golden/page/check.py --functions PAGE  prints the functions of a hardware trace

The page was made from the trace, with the options. Prints a line for each mistake, and fails if there is one.
"""
import collections
import json
import subprocess
import sys

from page import Page

CPU, THREAD, FUNCTIONS = 0, 1, 3
STATE_ROW, NEST_ROW = 0, 1
STATES = {"running": 1, "runnable": 2, "sleeping": 3, "waiting": 4, "stopped": 5, "dead": 6}
IDLE, END_UNKNOWN = 8, 2
mistakes = []


def equal(what, expected, got):
    if expected != got:
        mistakes.append(f"{what}: expected {expected}, got {got}"[:500])


def ktrace(program, *words):
    result = subprocess.run([program, *words], capture_output=True, check=False)
    return [json.loads(line) for line in result.stdout.decode("utf-8").splitlines() if line.startswith("{")]


def check_events(page, program, words):
    """Each event has the time, name, place and values that ktrace show prints."""
    shown = {line["id"]: line for line in ktrace(program, "show", "--json", "--ids", *words) if "event" in line}
    got = {f"{event['ring']}.{event['slot']}": event for event in page.events}
    equal("number of events", len(page.events), len(got))
    equal("events of the head", page.head["events"], len(page.events))
    equal("ids", sorted(shown), sorted(got))
    for key in shown.keys() & got.keys():
        event, line = got[key], shown[key]
        kind = page.types.get(event["type"])
        if kind:
            equal(f"name of {key}", line["event"], kind["name"])
        if page.head["unit"] == "ns":
            equal(f"time of {key}", min(round(line["time"] * 1e9), 2**64 - 1), event["time"])
        equal(f"CPU of {key}", line.get("cpu"), event["cpu"] if event["cpu"] >= 0 else None)
        if event["lane"] >= 0:
            equal(f"thread of {key}", line["thread"], page.lanes[event["lane"]][1])
        if kind:
            numbers = {name: value for name, value in line.get("args", {}).items() if type(value) is int}
            equal(f"values of {key}", numbers, {name: event["values"].get(name) for name in numbers})


def check_counts(page):
    counts = collections.Counter(event["type"] for event in page.events)
    listed = {entry["id"]: entry["records"] for entry in page.head["summary"]["by_event"]}
    equal("events by type", listed, dict(counts))


def check_states(page, program, trace):
    """The states of each thread are those of the table thread_states of ktrace sql."""
    expected, got = collections.defaultdict(list), collections.defaultdict(list)
    query = "SELECT thread, state, duration FROM thread_states WHERE thread <> 0 AND state <> 'unknown'"
    for row in ktrace(program, "sql", "--json", trace, query):
        if "thread" in row:
            expected[row["thread"]].append((row["state"], row["duration"]))
    for (lane, row), slices in page.slices.items():
        kind, number, _, _, flags = page.lanes[lane]
        if kind != THREAD or row != STATE_ROW:
            continue
        for part in sorted(slices, key=lambda part: part["begin"]):
            state = {value: name for name, value in STATES.items()}.get(part["cls"], "running")
            if flags and part["cls"] == STATES["sleeping"]:
                state = "idle"
            got[number].append((state, None if part["flags"] & END_UNKNOWN else part["duration"]))
    for thread, states in expected.items():
        idle = any(state == "idle" for state, _ in got[thread])
        states = [("idle" if idle and state in ("runnable", "sleeping") else state, length)
                  for state, length in states]
        equal(f"states of thread {thread}", sorted(states, key=str), sorted(got[thread], key=str))
    equal("threads with states", sorted(expected), sorted(thread for thread in got if got[thread]))


def check_rows(page):
    """Slices of a row do not overlap, except that the slices of a nesting row lie inside each other."""
    for (lane, row), slices in page.slices.items():
        open_until = []
        for part in sorted(slices, key=lambda part: (part["begin"], part["depth"])):
            end = part["begin"] + part["duration"]
            while open_until and (row != NEST_ROW or part["depth"] < len(open_until)):
                if open_until.pop() > part["begin"]:
                    mistakes.append(f"{page.lanes[lane]} row {row}: slices overlap at {part['begin']}")
            if open_until and end > open_until[-1]:
                mistakes.append(f"{page.lanes[lane]} row {row}: a slice at {part['begin']} ends after the outer one")
            open_until.append(end)
            if part["other"] > len(page.lanes) or end > page.head["end"]:
                mistakes.append(f"{page.lanes[lane]} row {row}: bad slice {part}")


def check_running(page):
    """The time that threads run is the time that CPUs run them."""
    on_cpus, by_threads = collections.Counter(), collections.Counter()
    for (lane, row), slices in page.slices.items():
        kind, number = page.lanes[lane][:2]
        for part in slices:
            if row == STATE_ROW and kind == CPU and part["other"]:
                on_cpus[page.lanes[part["other"] - 1][1]] += part["duration"]
            elif row == STATE_ROW and kind == THREAD and part["cls"] in (STATES["running"], IDLE):
                by_threads[number] += part["duration"]
                equal("the CPU of a running thread", CPU, page.lanes[part["other"] - 1][0])
    equal("time on CPUs", +by_threads, +on_cpus)


def check_losses(page):
    rings = page.head["summary"]["rings"]
    lost = sum(ring["overwritten"] + ring["invalid"] + ring["dropped"] for ring in rings)
    known = page.head["summary"]["lost_slots"] is not None
    equal("lost slots of the head", lost if known else None, page.head["lost"])
    equal("lost slots of the gaps", lost, sum(gap["lost"] for gap in page.gaps))


def check_arrows(page, filtered):
    ids = {(event["ring"], event["slot"]): page.types.get(event["type"], {}).get("name")
           for event in page.events}
    names = {0: ("sched.wake", "sched.WAITQ_WAKE", "WAITQ_WAKE"), 1: ("ipi.send",)}
    for arrow in page.arrows:
        name = ids.get((arrow["ring"], arrow["slot"]))
        if name not in names[arrow["kind"]] and not (filtered and name is None):
            mistakes.append(f"an arrow begins at event {name}: {arrow}")
        if arrow["time"] + arrow["length"] > page.head["end"]:
            mistakes.append(f"an arrow ends after the trace: {arrow}")


def print_texts(page):
    for event in page.events:
        for value in event["values"].values():
            if isinstance(value, str):
                print(value)


def print_functions(page):
    for lane, (kind, _, name, _, _) in enumerate(page.lanes):
        for part in page.slices[lane, NEST_ROW] if kind == FUNCTIONS else ():
            end = "?" if part["flags"] & END_UNKNOWN else ""
            print(f"{name}: {'  ' * part['depth']}{part['name']} {part['begin']}+{part['duration']}{end}")


def main():
    if sys.argv[1] == "--strings":
        print("\n".join(Page(sys.argv[2]).strings))
        return
    if sys.argv[1] == "--words":
        page = Page(sys.argv[2])
        print("\n".join(page.strings), json.dumps({**page.head, "types": []}, ensure_ascii=False))
        return
    if sys.argv[1] == "--functions":
        print_functions(Page(sys.argv[2]))
        return
    if sys.argv[1] == "--text":
        print_texts(Page(sys.argv[2]))
        return
    program, path, *words = sys.argv[1:]
    page = Page(path)
    check_counts(page)
    check_events(page, program, words)
    check_rows(page)
    check_running(page)
    check_arrows(page, len(words) > 1)
    if not {"--since", "--until"}.intersection(words):
        check_states(page, program, words[0])
    if len(words) == 1:
        check_losses(page)
    for line in mistakes[:20]:
        print(line)
    sys.exit(bool(mistakes))


main()
