#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Boots the demo kernel of an architecture under `ktrace run` and shows what it recorded.
set -eu
arch=$1
trace=build/demo-$arch.ktrx

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

line=$(sh scripts/qemu.sh "$arch")
set -- $line -append "debug=boot,sched,syscall,process,vfs,net,signal,mm,irq slots=65536 run=pipeline,echo,resolver"
say "ktrace run --timeout 60 --out $trace -- $*"
build/bin/ktrace run --timeout 60 --out "$trace" -- "$@"
say "ktrace show --event process,syscall,vfs,net --limit 40 $trace"
build/bin/ktrace show --event process,syscall,vfs,net --limit 40 "$trace"
say "ktrace summary $trace"
build/bin/ktrace summary "$trace"
say "ktrace export --format perfetto $trace -o build/demo-$arch.pftrace"
build/bin/ktrace export --format perfetto "$trace" -o "build/demo-$arch.pftrace"
echo "Open build/demo-$arch.pftrace at https://ui.perfetto.dev: running thread and state of every CPU and thread."
