# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""A client of the server of `ktrace open`, and the results of the test."""

import json
import signal
import socket
import subprocess
import sys

KTRACE, TRACE, FOLDER = sys.argv[1:]
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
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


def skip(name, reason):
    global count
    count += 1
    print("ok", count, "-", name, "# SKIP", reason, flush=True)


def finish():
    """Ends the servers and the test."""
    for process in running:
        process.kill()
    print(f"1..{count}")
    sys.exit(failed)


class Server:
    """A server that runs, with its address."""

    def __init__(self, *words, **others):
        command = [KTRACE, "open", "--no-browser", *words]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, **others)
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


def summary():
    out = subprocess.run([KTRACE, "summary", "--json", TRACE], capture_output=True, check=True)
    return json.loads(out.stdout)


def only_events(lines):
    return [line for line in lines if "event" in line]
