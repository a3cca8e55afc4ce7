#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints the screen of `ktrace live` as text: starts the demo kernel, types KEYS, and copies the screen when it
# contains TEXT. Usage: sh scripts/live_picture.sh KEYS TEXT ARGUMENT…; the arguments are the demo kernel's.
set -eu
keys=$1 text=$2
shift 2
folder=$(mktemp -d)
ktrace=$PWD/build/bin/ktrace
tmux="tmux -S $folder/tmux -f /dev/null"
# shellcheck disable=SC2046
"$ktrace" run -q --timeout 60 --out "$folder/ktrace.ktrx" -- $(sh scripts/qemu.sh x86_64 4) -append "debug=ktrace $*" \
	</dev/null >"$folder/console" 2>&1 &
guest=$!
trap '$tmux kill-server 2>/dev/null || :; kill -INT $guest 2>/dev/null || :; wait $guest 2>/dev/null || :; rm -rf "$folder"' EXIT
until ls "$folder"/*.ram >/dev/null 2>&1; do sleep 0.1; done
$tmux new-session -d -x 110 -y 26 "cd $folder && LC_ALL=C.UTF-8 $ktrace live"
# After 8 seconds, the sparklines show several intervals.
until $tmux capture-pane -p | grep -q ' [89] s$'; do sleep 0.1; done
for key in $keys; do $tmux send-keys "$key"; done
until $tmux capture-pane -p >"$folder/screen" && grep -q -e "$text" "$folder/screen"; do sleep 0.1; done
sed 's/ *$//' "$folder/screen"
