# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Tests the data of the page: its blocks, and the windows of a long trace."""

import json
import os
import subprocess
import zlib

from client import FOLDER, KTRACE, TRACE, Server, check, only_events, show, summary

GAPS, EVENTS, DENSITY = 6, 7, 8  # tags of sections (spec/page.md)


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def sections(block):
    """Yields the tag and the bytes of each section of a block."""
    data = zlib.decompress(block)
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        size, at = varint(data, at)
        yield tag, data[at : at + size]
        at += size


def count_events(blocks):
    """Returns the number of events in blocks: the third number of each EVENTS section."""
    total = 0
    for block in blocks:
        for tag, data in sections(block):
            if tag == EVENTS:
                at = varint(data, varint(data, 0)[1])[1]
                total += varint(data, at)[0]
    return total


def page(server):
    """The page and its data."""
    got = server.get("")
    check(
        "the page is HTML, and only its own script may run",
        got.status == 200
        and got.headers["content-type"].startswith("text/html")
        and got.has_headers()
        and b"default-src 'none'" in got.body
        and b"script-src 'sha256-" in got.body,
        got,
    )
    head = server.get("head").json()
    check("head: its summary is that of ktrace summary", head["summary"] == summary(), head)
    blocks = []
    while (got := server.get(f"blocks?n={len(blocks)}")).status == 200:
        blocks.append(got.body)
    check("blocks: after the last one there is nothing", got.is_refusal(404), got)
    check(
        "blocks: as many events as ktrace summary counts",
        count_events(blocks) == summary()["events"] > 0,
        f"{count_events(blocks)} {summary()['events']}",
    )
    check("blocks: a number beyond all blocks", server.get("blocks?n=18446744073709551615").is_refusal(404))


def pieces(body):
    """Returns the blocks of an answer that has several, each after its size."""
    blocks = []
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "little")
        blocks.append(body[at + 4 : at + 4 + size])
        at += 4 + size
    return blocks


def densities(blocks):
    """Returns the number of events in each DENSITY section."""
    totals = []
    for block in blocks:
        for tag, data in sections(block):
            if tag != DENSITY:
                continue
            at = varint(data, varint(data, 0)[1])[1]
            used, at = varint(data, at)
            column = []
            while at < len(data):
                number, at = varint(data, at)
                column.append(number)
            totals.append(sum(column[used : 2 * used]))
    return totals


def gaps(blocks):
    """Returns the number of missing slots in GAPS sections."""
    total = 0
    for block in blocks:
        for tag, data in sections(block):
            if tag == GAPS:
                count, at = varint(data, 0)
                numbers = []
                while at < len(data):
                    number, at = varint(data, at)
                    numbers.append(number)
                total += sum(numbers[3 * count :])
    return total


def windows():
    """A trace that is too long to be sent as a whole."""
    server = Server("--whole", "1", TRACE)
    head = server.get("head").json()
    counts = summary()
    check("long trace: the head has the summary, and no verdict", head["summary"] == counts and "why" not in head, head)
    check("long trace: the head states that the page is not whole", head["whole"] is False, head)
    got = densities(pieces(server.get("overview").body))
    wanted = sorted(row["records"] for row in counts["by_cpu"] + counts["by_thread"])
    check("long trace: the overview counts each CPU and each thread", sorted(got) == wanted, f"{got} {wanted}")
    lost = sum(row["overwritten"] + row["invalid"] + row["dropped"] for row in counts["rings"])
    got = gaps(pieces(server.get("overview").body))
    check("long trace: the overview has all losses", got == lost > 0, f"{got} {lost}")
    out = subprocess.run([KTRACE, "why", "--json", TRACE], capture_output=True, check=False)
    got = server.get("verdict")
    check("long trace: the verdict comes separately", got.json()["why"] == json.loads(out.stdout), got)
    check("long trace: there are no blocks", server.get("blocks?n=0").is_refusal(404))
    events = only_events(show())
    times = sorted({round(event["time"] * 1e9) for event in events})
    for since, until in ((0, 2**64 - 1), (times[3], times[-4]), (times[5], times[5]), (times[-1] + 1000, 2**64 - 1)):
        body = server.get(f"window?from={since}&until={until}").body
        wanted = [event for event in events if since <= round(event["time"] * 1e9) <= until]
        out = subprocess.run(
            [KTRACE, "show", "--json", "--since", f"{since}ns", "--until", f"{min(until, 2**62)}ns", TRACE],
            capture_output=True,
            check=False,
        )
        check(
            f"a window from {times.index(since) if since in times else 'an edge'}: as many events as show prints",
            count_events(pieces(body)) == len(wanted) == out.stdout.count(b'"event"'),
            f"{count_events(pieces(body))} {len(wanted)} {out.stdout.count(b'event')}",
        )
    check("long trace: Ctrl-C ends the server", server.stop() == 0, server.lines)


def failed_verdict():
    """A verdict that cannot be made is an error, which states the reason."""
    server = Server("--whole", "1", TRACE, env={**os.environ, "TMPDIR": os.path.join(FOLDER, "absent")})
    got = server.get("verdict")
    check("a verdict that cannot be made: an error in JSON", got.is_refusal(500) and b"temporary file" in got.body, got)
    check("a verdict that cannot be made: the server still ends with status 0", server.stop() == 0, server.lines)
