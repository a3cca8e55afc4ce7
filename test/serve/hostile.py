# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""
Tries the server of `ktrace open`: its answers must be those of `ktrace show`, and hostile clients must be
refused and must not keep others out. Prints TAP.

	python3 test/serve/hostile.py KTRACE TRACE RAM FOLDER
"""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import zlib
from urllib.parse import quote

KTRACE, TRACE, RAM, GROWS, FOLDER = sys.argv[1:]
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
GAPS, EVENTS, DENSITY = 6, 7, 8  # tags of sections (spec/page.md)
count = 0
failed = False
running = []


def check(name, good, why=""):
    global count, failed
    count += 1
    print(("ok" if good else "not ok"), count, "-", name, flush=True)
    if not good:
        failed = True
        print("# " + str(why)[:600].replace("\n", "\n# "), flush=True)


class Server:
    """A server that runs, with its address."""

    def __init__(self, *words):
        self.process = subprocess.Popen([KTRACE, "open", "--no-browser", *words], stderr=subprocess.PIPE)
        running.append(self.process)
        self.lines = b""
        for line in self.process.stderr:
            self.lines += line
            if b"http://" in line:
                address = line.split(b"http://127.0.0.1:")[1].split()[0].decode()
                self.port = int(address.split("/")[0])
                self.token = address.split("/")[1]
                return
        raise SystemExit("no address: " + self.lines.decode())

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port))

    def send(self, data, half_close=False):
        """Sends bytes, and returns what the server sends until it closes the connection."""
        got = b""
        with self.connect() as connection:
            try:
                connection.sendall(data)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(65536):
                    got += part
            except (ConnectionResetError, BrokenPipeError):
                pass
        return got

    def request(self, target, headers=(), method="GET", host=None, version="HTTP/1.1"):
        lines = [f"{method} {target} {version}"]
        if host is not False:
            lines.append("Host: " + (host or f"127.0.0.1:{self.port}"))
        return Answer(self.send("\r\n".join([*lines, *headers, "", ""]).encode("latin-1")))

    def get(self, path, **others):
        return self.request(f"/{self.token}/{path}", **others)

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.lines += self.process.stderr.read()
        return self.process.wait()


class Answer:
    """An answer, in its parts. Its status is 0 if the server closed the connection without an answer."""

    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if data.startswith(b"HTTP/") else 0
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value

    def json(self):
        return json.loads(self.body)

    def events(self):
        return self.json()["events"]

    def is_refusal(self, *statuses):
        """Returns whether this is an error in JSON with one of these statuses."""
        return self.status in statuses and isinstance(self.json()["error"], str) and self.has_headers()

    def has_headers(self):
        return (
            all(self.headers.get(name) == value for name, value in HEADERS.items())
            and "frame-ancestors 'none'" in self.headers.get("content-security-policy", "")
            and "access-control-allow-origin" not in self.headers
        )

    def __str__(self):
        return f"{self.status} {self.headers} {self.body[:200]}"


def show(*words):
    out = subprocess.run([KTRACE, "show", "--json", "--ids", *words, TRACE], capture_output=True, check=False)
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    for line in lines[:1]:
        line.pop("schema", None)
        line.pop("strings", None)
    return lines


def only_events(lines):
    return [line for line in lines if "event" in line]


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


def summary():
    out = subprocess.run([KTRACE, "summary", "--json", TRACE], capture_output=True, check=True)
    return json.loads(out.stdout)


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


def changes():
    """The file changes while it is open."""
    name = os.path.join(FOLDER, "changing.ktrx")
    for what in ("appended to", "truncated", "emptied", "deleted", "replaced", "replaced by a folder"):
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
            elif what == "replaced by a folder":
                os.mkdir(name)
        got = server.get("events")
        check(f"a file that was {what}: an error in JSON", good and got.is_refusal(409), got)
        check(f"a file that was {what}: the server still ends with status 0", server.stop() == 0, server.lines)


def ram():
    """The RAM file of a guest may change: answers, and a page that is loaded again, have the newest state."""
    name = os.path.join(FOLDER, "guest.ram")
    shutil.copy(RAM, name)
    server = Server("--machine", "x86_64", name)
    first = server.get("head").json()
    check("RAM: the head states that the trace is live", first["live"] is True and first["events"] > 0, first)
    os.utime(name, ns=(0, 0))
    got = server.get("events")
    server.get("blocks?n=9999")  # waits until all data is made
    check("RAM: a file that has changed is read", got.status == 200 and only_events(got.events()), got)
    check("RAM: the page can be loaded again", server.get("").status == 200)
    check("RAM: the data is made again", server.get("head").json()["events"] == first["events"])
    check("RAM: all of the data is made", server.get("blocks?n=9999").is_refusal(404))
    os.unlink(name)
    check("RAM: a deleted file is reported", server.get("events").is_refusal(409))
    check("RAM: the page is then loaded without data", server.get("").status == 200)
    check("RAM: which states why", "no longer exists" in server.get("head").json()["error"])
    check("RAM: Ctrl-C ends the server", server.stop() == 0, server.lines)


def grows():
    """A file that is still written is read again, with the same time 0; without a writer, a change is an error."""
    whole = open(GROWS, "rb").read()
    name = os.path.join(FOLDER, "growing.out")
    with open(name, "wb", buffering=0) as file:
        file.write(whole[: len(whole) // 2])
        server = Server(name)
        server.get("blocks?n=9999")  # waits until all data is made
        first = server.get("head").json()
        check("a file that is still written: the head states that it is live", first["live"] is True, first)
        file.write(whole[len(whole) // 2 :])
        check("a file that is still written: the page can be loaded again", server.get("").status == 200)
        server.get("blocks?n=9999")
        second = server.get("head").json()
    check("a file that is still written: the new events are there", second["events"] > first["events"] > 0, second)
    check("a file that is still written: time 0 stays", second["base"] == first["base"] != "0", second)
    check("a file that is still written: Ctrl-C ends the server", server.stop() == 0, server.lines)


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
    signal.alarm(600)  # only a server that hangs reaches this
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
    print(f"1..{count}")


def too_long(number, frame):
    raise SystemExit("the server does not answer")


signal.signal(signal.SIGALRM, too_long)
try:
    main()
finally:
    for process in running:
        process.kill()
sys.exit(failed)
