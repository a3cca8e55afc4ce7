# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Runs a command on a new terminal, copies what it writes to standard output, and exits with its status.

onpty.py KEYS COMMAND WORD...: types KEYS as soon as the command has written something.
"""
import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
keys = sys.argv[1].encode()
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:  # all programs have closed the terminal
        break
    if not data:
        break
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
    sys.stdout.buffer.flush()
    if keys:
        os.write(terminal, keys)
        keys = b""
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
