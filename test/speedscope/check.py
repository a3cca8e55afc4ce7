# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Checks a file of speedscope.

    check.py SCHEMA FILE CALLS

SCHEMA: file-format-schema.json of speedscope. CALLS: output of `ktrace sql --json` with name, ts and duration of the
system calls; times since the first event. Prints what is wrong: the file must match the schema, every frame that begins
ends, times never decrease, and the threads' profiles have these system calls.
"""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    profile = json.load(file)
with open(sys.argv[3], encoding="utf-8") as file:
    expected = [json.loads(line) for line in file]
for error in list(jsonschema.Draft7Validator(schema).iter_errors(profile))[:5]:
    print("schema: %s" % error.message)
frames = [frame["name"] for frame in profile["shared"]["frames"]]
found = []
for one in profile["profiles"]:
    opened, last = [], one["startValue"]
    for event in one["events"]:
        if event["at"] < last:
            print("%s: time goes back to %d" % (one["name"], event["at"]))
        last = event["at"]
        if event["type"] == "O":
            opened.append((event["frame"], last))
        elif not opened or opened[-1][0] != event["frame"]:
            print("%s: frame %d ends, but is not open" % (one["name"], event["frame"]))
        else:
            frame, since = opened.pop()
            if not one["name"].startswith("CPU"):
                found.append((frames[frame], since - one["startValue"], last - since))
    if opened or last > one["endValue"]:
        print("%s: a frame does not end" % one["name"])
for call in expected:
    times = [duration for name, ts, duration in found
             if ts == call["ts"] and (name == call["name"] or (not call["name"] and name.startswith("syscall_")))]
    if not times or (call["duration"] is not None and call["duration"] not in times):
        print("not found: %s" % call)
if not expected:
    print("no system calls")
