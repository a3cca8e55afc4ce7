#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints what the traces in the current folder hold, a line a fact: the trace's name, a blank, and a JSON object of `ktrace show
# --json` or `kdump --json`, or what identifies the decoded instructions of hardware trace. These are the facts that no later
# version may read otherwise; texts for people are not among them.
set -u

named() { sed "s|^|$1 |"; }

# Version 1 does not name system calls. What a8ffd9c printed as their names were Linux's, a guess.
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
