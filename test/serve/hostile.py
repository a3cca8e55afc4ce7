# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""
Tries the server of `ktrace open`: its answers must be those of `ktrace show`, and hostile clients must be
refused and must not keep others out. Prints TAP.

	python3 test/serve/hostile.py KTRACE TRACE FOLDER

FOLDER has the traces that test/serve/server.sh makes.
"""
import json
import os
import resource
import signal
import subprocess
import sys
from urllib.parse import quote

sys.dont_write_bytecode = True
from changes import changes, grows, ram, restarts
from client import FOLDER, KTRACE, TRACE, Answer, Server, check, finish, only_events, running, show
from data import failed_verdict, page, windows


def answers(server):
    """The answers are those of `ktrace show`."""
    whole = show()
    events = only_events(whole)
    got = server.get("events?limit=100000")
    check("events: all events and losses, as show prints them", got.events() == whole, got)
    check("an answer has the headers of security", got.has_headers() and got.status == 200, got)
    part = server.get("events?limit=3")
    check(
        "events: a limit, and that there are more",
        only_events(part.events()) == events[:3] and part.json()["more"] is True,
        part,
    )
    check("events: at the end there are no more", got.json()["more"] is False, got)
    some = events[len(events) // 2]
    time = round(some["time"] * 1e9)
    at = [event for event in events if round(event["time"] * 1e9) == time]
    got = server.get(f"events?from={time}&until={time}")
    check("events: a window of one nanosecond", only_events(got.events()) == at, got)
    got = server.get(f"events?until={time - 1}&limit=100000")
    earlier = [event for event in events if round(event["time"] * 1e9) < time]
    check("events: up to a time", only_events(got.events()) == earlier, got)
    for query in (f"id={some['id']}", f"id={some['id']}&time={time}"):
        got = server.get("event?" + query)
        check(f"event?{query}: the event as show prints it", got.json() == some, got)
    check("event: an id that the trace lacks", server.get("event?id=1.99999").is_refusal(404))
    where = 'cpu == 0 and event ~ "sched.*"'
    got = server.get("search?limit=100000&where=" + quote(where))
    check("search: the events of --where", only_events(got.events()) == only_events(show("--where", where)), got)
    got = server.get("search?where=" + quote("cpu == 99999"))
    check("search: an expression without events", only_events(got.events()) == [], got)
    head = server.get("events", method="HEAD")
    check(
        "HEAD: the headers without the body",
        head.status == 200 and head.body == b"" and int(head.headers["content-length"]) > 0,
        head,
    )


def options():
    """Options of the trace have the same effect as for `ktrace show`."""
    bare = os.path.join(os.path.dirname(TRACE), "v1.bin")
    low = os.path.join(os.path.dirname(TRACE), "lowclock.bin")
    for words in (
        ("--raw-clock", TRACE),
        ("--align", TRACE),
        ("--form", "v2", "--machine", "x86_64", TRACE),
        ("--calls", "linux", TRACE),
        ("--with", TRACE, TRACE),
        ("--elf", KTRACE, TRACE),
        ("--v1-layout", "spec", bare),
        (low,),
        ("--frequency", "1000000", low),
    ):
        out = subprocess.run([KTRACE, "show", "--json", "--ids", *words], capture_output=True, check=False)
        name = " ".join(words).replace(KTRACE, "KTRACE").replace(FOLDER + "/", "")
        if out.returncode == 0:
            server = Server(*words)
            lines = [json.loads(line) for line in out.stdout.splitlines()]
            for member in ("schema", "strings"):
                lines[0].pop(member)
            got = server.get("events?limit=100000")
            check(f"open {name}: the events of show", got.events() == lines, got)
            server.stop()
        else:
            fails = subprocess.run([KTRACE, "open", *words], capture_output=True, check=False)
            check(
                f"open {name}: fails as show does",
                (fails.returncode, fails.stderr) == (out.returncode, out.stderr.replace(b"ktrace show", b"ktrace open")),
                fails,
            )


def expressions(server):
    for where, column in (("cpz == 0", 1), ("cpu ==", 7), ("cpu == 0 and (event", 20), ("(" * 70 + "cpu", 65)):
        got = server.get("search?where=" + quote(where))
        check(
            f"search: '{where[:24]}' is wrong at column {column}",
            got.is_refusal(400) and got.json()["column"] == column,
            got,
        )
    for name, value in (
        ("4097 bytes", quote("a" * 4097)),
        ("an invalid %", "%zz"),
        ("a cut %", "cpu%3"),
        ("NUL", "cpu%00"),
        ("a line end", "cpu%0a"),
        ("no UTF-8", "%c0%af"),
        ("nothing", ""),
    ):
        got = server.get("search?where=" + value)
        check(f"search: an expression with {name} is refused", got.is_refusal(400), got)


def hosts(server):
    port = server.port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port}0",
        f"127.0.0.1.:{port}",
        f"0.0.0.0:{port}",
        f"[::1]:{port}",
        f"127.0.0.1:{port}@evil.example",
        f"127.0.0.1:{port}, evil.example",
        f"localhost.evil.example:{port}",
    ):
        got = server.get("events", host=host)
        check(f"Host: {host.replace(str(port), 'PORT')} is refused", got.is_refusal(403), got)
    check("Host: localhost:PORT is allowed", server.get("events", host=f"localhost:{port}").status == 200)
    check("two Host headers are refused", server.get("events", headers=["Host: evil.example"]).status in (400, 403))
    check("without Host: refused", server.get("events", host=False).status == 400)
    check("HTTP/1.0 without Host: refused", server.get("events", host=False, version="HTTP/1.0").is_refusal(403))
    for origin in ("null", "http://evil.example", f"https://127.0.0.1:{port}", "http://127.0.0.1:1", ""):
        got = server.get("events", headers=["Origin: " + origin])
        check(f"Origin: {origin.replace(str(port), 'PORT')} is refused", got.is_refusal(403), got)
    check("its own Origin is allowed", server.get("events", headers=[f"Origin: http://127.0.0.1:{port}"]).status == 200)
    for site, mode, status in (
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
        ("cross-site", "navigate", 200),
    ):
        got = server.get("events", headers=["Sec-Fetch-Site: " + site, "Sec-Fetch-Mode: " + mode])
        check(f"Sec-Fetch-Site: {site} with mode {mode}: {status}", got.status == status, got)


def methods(server):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X" * 100):
        got = server.get("events", method=method)
        check(f"{method[:8]} is refused", got.is_refusal(405) and got.headers.get("allow") == "GET, HEAD", got)
    for header in ("Content-Length: 5", "Transfer-Encoding: chunked"):
        got = server.get("events", headers=[header])
        check(f"a body is refused ({header})", got.is_refusal(400), got)


def paths(server):
    token = server.token
    other = ("0" if token[0] != "0" else "1") + token[1:]
    for target in (
        "/",
        "/head",
        "/events",
        f"/{other}/events",
        f"/{token[:-1]}/events",
        f"/{token}0/events",
        f"/{token}/nothing",
        f"/{token}/EVENTS",
        f"/{token}/events/",
        f"/{token}//events",
        f"//{token}/events",
        f"/./{token}/events",
        f"/{token}/../{token}/events",
        f"/{token}/../../etc/passwd",
        f"/{token}/%2e%2e/%2e%2e/etc/passwd",
        f"/{token}/..%2f..%2fetc/passwd",
        f"/{token}/%65vents",
        f"/%{ord(token[0]):02x}{token[1:]}/events",
        f"/{token}%2fevents",
        f"\\{token}\\events",
        f"/{token}/events;a",
        f"/{token}/events%00",
        f"/{token}/events#",
        f"http://127.0.0.1:{server.port}/{token}/events",
        f"http://evil.example/{token}/events",
        "*",
        "/etc/passwd",
    ):
        got = server.request(target)
        shown = target.replace(token, "TOKEN").replace(other, "OTHER").replace(str(server.port), "PORT")
        check(f"{shown.replace('#', 'HASH')}: nothing is there", got.is_refusal(404), got)
    got = server.request(f"/{token}")
    check(
        "the page's address without its last slash leads to the page",
        got.is_refusal(308) and got.headers.get("location") == f"/{token}/",
        got,
    )


def numbers(server):
    for query in (
        "blocks",
        "blocks?n=-1",
        "head?n=1",
        "?n=1",
        "overview?n=1",
        "window",
        "window?from=1",
        "window?from=1&until=NaN",
        "window?from=2&until=1",
        "window?from=0&until=18446744073709551616",
        "events?from=-1",
        "events?from=%2d1",
        "events?from=+1",
        "events?from=1e3",
        "events?from=0x10",
        "events?from=NaN",
        "events?from=",
        "events?from",
        "events?from=18446744073709551616",
        "events?from=99999999999999999999999",
        "events?from=2&until=1",
        "events?from=1&from=1",
        "events?limit=0",
        "events?limit=100001",
        "events?other=1",
        "events?=1",
        "events?&",
        "events?where=cpu",
        "search",
        "search?from=1",
        "event",
        "event?id=1",
        "event?id=.1",
        "event?id=1.",
        "event?id=1.2.3",
        "event?id=4294967296.0",
        "event?id=0.18446744073709551616",
        "event?id=1.1&time=x",
    ):
        got = server.get(query)
        check(f"{query} is refused", got.is_refusal(400), got)
    most = server.get("events?from=18446744073709551615&until=18446744073709551615")
    check("the largest time is no error", most.status == 200 and only_events(most.events()) == [], most)


def sizes(server):
    got = server.get("search?where=" + "a" * 13000)
    check("an address of 13 KB is too long", got.is_refusal(414), got)
    for name, size in (("64 KB", 1 << 16), ("1 MB", 1 << 20)):
        got = server.get("events?from=" + "1" * size)
        check(f"an address of {name} is refused", got.status in (0, 400, 414, 431), got)
        got = server.get("events", headers=["X-Long: " + "a" * size])
        check(f"a header of {name} is refused", got.status in (0, 413, 431), got)
    got = server.get("events", headers=["X: y"] * 20000)
    check("20000 headers are refused", got.status in (0, 413, 431), got)


def rubbish(server):
    path = f"/{server.token}/events".encode()
    host = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    for name, data in (
        ("nothing", b""),
        ("half a method", b"GE"),
        ("half a path", b"GET " + path[:9]),
        ("half a header", b"GET " + path + b" HTTP/1.1\r\nHo"),
        ("no empty line", b"GET " + path + b" HTTP/1.1\r\n" + host),
        ("the begin of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500),
        ("bytes", bytes(range(256)) * 20),
        ("NUL bytes", b"\0" * 5000),
        ("line ends", b"\r\n" * 5000),
    ):
        got = Answer(server.send(data, half_close=True))
        check(f"rubbish: {name} gets no data", got.status in (0, 400, 404, 405), got)
    for name, data in (
        ("NUL in the token", b"GET " + path[:9] + b"\0" + path[9:] + b" HTTP/1.1\r\n" + host + b"\r\n"),
        ("NUL in the host", b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\0:1\r\n\r\n"),
        ("NUL before the host", b"GET " + path + b" HTTP/1.1\r\n\0" + host + b"\r\n"),
        ("no version", b"GET " + path + b"\r\n\r\n"),
        ("a version of the future", b"GET " + path + b" HTTP/9.9\r\n" + host + b"\r\n"),
    ):
        got = Answer(server.send(data, half_close=True))
        check(f"rubbish: {name} gets no data", got.status != 200, got)
    check("after all this, a request is answered", server.get("events").status == 200)


def many(server):
    """Clients that keep connections open, or send a byte at a time, do not keep others out."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    connections = [server.connect() for _ in range(1000)]
    check("with 1000 connections open, a request is answered", server.get("events?limit=1").status == 200)
    for connection in connections:
        connection.close()
    slow = []
    good = 0
    text = f"GET /{server.token}/events HTTP/1.1\r\nX-Slow: ".encode()
    for n in range(300):
        slow.append(server.connect())
        for connection in slow[-200:]:
            try:
                connection.send(text[n % len(text) : n % len(text) + 1])
            except OSError:
                pass
        if n % 30 == 0:
            good += server.get("events?limit=1").status == 200
    check("while 200 clients send a byte at a time, requests are answered", good == 10, good)
    for connection in slow:
        connection.close()
    check("afterwards as well", server.get("events?limit=1").status == 200)


def ends(server):
    other = subprocess.run(
        [KTRACE, "open", "--no-browser", "--port", str(server.port), TRACE], capture_output=True, check=False
    )
    check(
        "a port in use is reported",
        other.returncode == 1 and f"127.0.0.1:{server.port}".encode() in other.stderr,
        other,
    )
    check("Ctrl-C ends the server with status 0", server.stop() == 0, server.lines)
    check("the server printed only its address", b"rror" not in server.lines, server.lines)
    try:
        server.connect()
        check("after the end, nothing listens", False)
    except ConnectionRefusedError:
        check("after the end, nothing listens", True)
    second = Server(TRACE)
    check("each run has another token", second.token != server.token)
    check("SIGTERM ends the server with status 0", second.stop(signal.SIGTERM) == 0, second.lines)


def main():
    signal.alarm(1500)  # only a server that hangs reaches this
    server = Server(TRACE)
    page(server)
    windows()
    answers(server)
    options()
    expressions(server)
    hosts(server)
    methods(server)
    paths(server)
    numbers(server)
    sizes(server)
    rubbish(server)
    many(server)
    ends(server)
    changes()
    ram()
    grows()
    restarts()
    failed_verdict()
    finish()


def too_long(number, frame):
    raise SystemExit("the server does not answer")


signal.signal(signal.SIGALRM, too_long)
try:
    main()
finally:
    for process in running:
        process.kill()
