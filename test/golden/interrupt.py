# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Interrupts a command while it writes its output.

interrupt.py SIGNAL OUT COMMAND WORD...: starts the command, and sends the signal as soon as the output OUT
exists. Repeats this with a new output if the command ended before the signal came. Prints the exit status and
what the command wrote on standard error.

--keep before SIGNAL: OUT is a folder that exists; sends the signal as soon as it has one more file.
"""
import os
import shutil
import signal
import subprocess
import sys

keep = sys.argv[1] == "--keep"
number, out, command = signal.Signals[sys.argv[1 + keep]], sys.argv[2 + keep], sys.argv[3 + keep :]
before = set(os.listdir(out)) if keep else set()


def added():
    """Returns what the command has made."""
    if keep:
        return [os.path.join(out, name) for name in set(os.listdir(out)) - before]
    return [out] if os.path.exists(out) else []


while True:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not added() and process.poll() is None:
        pass
    process.send_signal(number)
    message = process.communicate()[1]
    if process.returncode != 0:
        break
    for path in added():
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
print(f"status {process.returncode}\n{message}")
