# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Tests what the server does if the file of the trace changes: it is replaced, or a guest still writes it."""

import fcntl
import os
import shutil

from client import FOLDER, TRACE, Server, check, only_events, skip


def changes():
    """The file changes while it is open."""
    name = os.path.join(FOLDER, "changing.ktrx")
    for what in ("appended to", "truncated", "emptied", "deleted", "replaced", "replaced by a directory"):
        if os.path.isdir(name):
            os.rmdir(name)
        shutil.copy(TRACE, name)
        server = Server(name)
        good = server.get("events").status == 200
        if what == "appended to":
            with open(name, "ab") as file:
                file.write(b"\0")
        elif what == "truncated":
            os.truncate(name, os.path.getsize(name) // 2)
        elif what == "emptied":
            os.truncate(name, 0)
        else:
            os.unlink(name)
            if what == "replaced":
                shutil.copy(TRACE, name)
            elif what == "replaced by a directory":
                os.mkdir(name)
        got = server.get("events")
        check(f"a file that was {what}: an error in JSON", good and got.is_refusal(409), got)
        check(f"a file that was {what}: the server still ends with status 0", server.stop() == 0, server.lines)


def ram():
    """The RAM file of a guest may change: answers, and a page that is loaded again, have the newest state."""
    name = os.path.join(FOLDER, "guest.ram")
    shutil.copy(os.path.join(FOLDER, "ktr.ram"), name)
    server = Server("--machine", "x86_64", name)
    got = server.get("head")
    first, reading = got.json(), got.headers.get("ktrace-reading")
    check("RAM: the head states that the trace is live", first["live"] is True and first["events"] > 0, first)
    os.utime(name, ns=(0, 0))
    got = server.get("events")
    same = [server.get(f"blocks?n={n}").headers.get("ktrace-reading") == reading for n in (0, 9999)]
    check("RAM: blocks have the number of the head's reading", reading and all(same), same)
    check("RAM: a file that has changed is read", got.status == 200 and only_events(got.events()), got)
    check("RAM: the page can be loaded again", server.get("").status == 200)
    check("RAM: the data is made again", server.get("head").json()["events"] == first["events"])
    got = server.get("blocks?n=9999")
    check("RAM: all of the data is made", got.is_refusal(404))
    check("RAM: it is of another reading", got.headers.get("ktrace-reading") not in (None, reading), got)
    os.unlink(name)
    check("RAM: a deleted file is reported", server.get("events").is_refusal(409))
    check("RAM: the page is then loaded without data", server.get("").status == 200)
    check("RAM: which states why", "no longer exists" in server.get("head").json()["error"])
    check("RAM: Ctrl-C ends the server", server.stop() == 0, server.lines)


def lease_error():
    """Returns why the file system of the directory grants no lease, which shows whether a file is written; or None."""
    name = os.path.join(FOLDER, "leased")
    open(name, "wb").close()
    try:
        with open(name, "rb") as file:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return f"no leases in {FOLDER}: {error}"
    return None


def grows():
    """A file that is still written is read again, with the same time 0; without a writer, a change is an error."""
    no_lease = lease_error()
    whole = open(os.path.join(FOLDER, "linux.ktrace"), "rb").read()
    name = os.path.join(FOLDER, "growing.out")
    with open(name, "wb", buffering=0) as file:
        file.write(whole[: len(whole) // 2])
        server = Server(name)
        server.get("blocks?n=9999")  # waits until all data is made
        first = server.get("head").json()
        if no_lease:
            skip("a file that is still written: the head states that it is live", no_lease)
        else:
            check("a file that is still written: the head states that it is live", first["live"] is True, first)
        file.write(whole[len(whole) // 2 :])
        check("a file that is still written: the page can be loaded again", server.get("").status == 200)
        server.get("blocks?n=9999")
        second = server.get("head").json()
    if no_lease:
        skip("a file that is still written: the new events are there", no_lease)
    else:
        check("a file that is still written: the new events are there", second["events"] > first["events"] > 0, second)
    check("a file that is still written: time 0 stays", second["base"] == first["base"] != "0", second)
    check("a file that is still written: Ctrl-C ends the server", server.stop() == 0, server.lines)


def restarts():
    """Time 0 stays while a guest overwrites its oldest events. It changes once when the guest starts again."""
    name = os.path.join(FOLDER, "restarting.ram")
    for words in ((), ("--whole", "1")):
        shutil.copy(os.path.join(FOLDER, "guest0.ram"), name)
        server = Server(*words, "--machine", "x86_64", name)
        heads, statuses = [], []
        for number in range(5):
            with open(os.path.join(FOLDER, f"guest{number}.ram"), "rb") as state, open(name, "r+b") as file:
                file.write(state.read())
            server.get("blocks?n=9999")  # waits until all data is made
            statuses.append([server.get(path).status for path in ("window?from=0&until=9", "verdict")])
            server.get("")
            server.get("blocks?n=9999")
            heads.append(server.get("head").json())
        bases = [int(head["base"]) for head in heads]
        begins = [head["begin"] for head in heads]
        runs = [head["summary"]["nonce"] for head in heads]
        how = " ".join(["a guest", *words])
        check(f"{how}: time 0 is that of its first event", bases[1] == 900000 and begins[1] == 0, bases)
        check(f"{how}: time 0 stays when this event is overwritten", bases[2] == 900000 and begins[2] > 0, bases)
        check(f"{how}: another run has another nonce", runs[0] == runs[2] != runs[3] == runs[4], runs)
        check(f"{how}: another run has another time 0", bases[3] == 500000 and begins[3] == 0, bases)
        right = [[409 if number == 3 else 200] * 2 for number in range(5)]
        check(f"{how}: nothing of another run is sent before the page is loaded again", statuses == right, statuses)
        check(f"{how}: time 0 of this run stays, too", bases[4] == 500000 and begins[4] > 0, f"{bases} {begins}")
        check(f"{how}: Ctrl-C ends the server", server.stop() == 0, server.lines)
