#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Boots the demo kernel of an architecture under `ktrace run` and shows what it recorded.
# Environment: SEED chooses the order of the CPUs (`ktrace run --seed`), and the run is repeated once. That needs TCG.
set -eu
arch=$1
trace=build/demo-$arch.ktrx
seed=${SEED:+--seed $SEED}
[ -z "$seed" ] || export ACCEL=tcg

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

line=$(sh scripts/qemu.sh "$arch")
set -- $line -append "debug=boot,sched,syscall,process,vfs,net,signal,mm,irq slots=65536 run=pipeline,echo,resolver"
# shellcheck disable=SC2086
{
	say "ktrace run --timeout 300 ${seed:+$seed }--out $trace -- $*"
	build/bin/ktrace run --timeout 300 $seed --out "$trace" -- "$@"
}
if [ -n "$seed" ]; then
	say "ktrace run --timeout 300 --quiet --replay $trace --out build/demo-$arch-again.ktrx"
	build/bin/ktrace run --timeout 300 --quiet --replay "$trace" --out "build/demo-$arch-again.ktrx"
fi
say "ktrace show --event process,syscall,vfs,net --limit 40 $trace"
build/bin/ktrace show --event process,syscall,vfs,net --limit 40 "$trace"
say "ktrace summary $trace"
build/bin/ktrace summary "$trace"
say "ktrace export --format perfetto $trace -o build/demo-$arch.pftrace"
build/bin/ktrace export --format perfetto "$trace" -o "build/demo-$arch.pftrace"
echo "Open build/demo-$arch.pftrace at https://ui.perfetto.dev: running thread and state of every CPU and thread."
