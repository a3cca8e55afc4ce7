#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints the facts in the traces of the current folder, a line for each fact: the trace's name, a blank, and a
# JSON object of `ktrace show --json` or `kdump --json`, or a checksum of the decoded instructions of hardware
# trace. Later versions must read the same facts. Texts for people are not facts.
set -u

named() { sed "s|^|$1 |"; }

# without_guesses TRACE: removes the names of system calls if TRACE is in version 1 of the format, which does
# not record these names. ktrace at commit a8ffd9c printed the names that Linux uses.
without_guesses() { case $1 in *.v1) sed 's/,"call":"[^"]*"//' ;; *) cat ;; esac; }

for trace in *.ktrx *.kts *.v1 *.ram *.ktrace; do
	ktrace show --json "$trace" 2>/dev/null | without_guesses "$trace" | named "$trace"
done
for ram in *.ram; do
	ktrace extract --previous -o previous.ktrx "$ram" >/dev/null 2>&1 &&
		ktrace show --json previous.ktrx 2>/dev/null | named "$ram:previous"
	rm -f previous.ktrx
done
for trace in *.ktrace; do
	kdump --json -f "$trace" 2>/dev/null | named "$trace:kdump"
done
for branches in *.branches; do
	hwt --elf "${branches%.branches}.elf" -o pc "$branches" 2>/dev/null | cksum | named "$branches:pc"
done
