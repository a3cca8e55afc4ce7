#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Boots the demo kernel of an architecture under `ktrace run` and shows what it recorded.
# Environment: if SEED is set, it chooses the order of the CPUs (`ktrace run --seed`, which needs TCG), and the run is
# repeated once.
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
	echo 'The programs in the guest count their own system calls and print the counts in lines that begin with "account".'
	say "ktrace run --timeout 300 ${seed:+$seed }--out $trace -- $*"
	build/bin/ktrace run --timeout 300 $seed --out "$trace" -- "$@"
}
if [ -n "$seed" ]; then
	say "ktrace run --timeout 300 --quiet --replay $trace --out build/demo-$arch-again.ktrx"
	build/bin/ktrace run --timeout 300 --quiet --replay "$trace" --out "build/demo-$arch-again.ktrx"
fi
printf '\nFrom here on, programs exchange data over TCP:\n'
say "ktrace show --event process,syscall,net,sched $trace | grep -m 1 -A 39 net.connect"
build/bin/ktrace show --event process,syscall,net,sched "$trace" | grep -m 1 -A 39 net.connect
say "ktrace summary $trace"
build/bin/ktrace summary "$trace"
say "ktrace export --format perfetto $trace -o build/demo-$arch.pftrace"
build/bin/ktrace export --format perfetto "$trace" -o "build/demo-$arch.pftrace"
echo "Open build/demo-$arch.pftrace at https://ui.perfetto.dev: running thread and state of every CPU and thread."
# shellcheck disable=SC2016 # the reader's shell expands the variables
echo 'Next: export PATH=$PWD/build/bin:$PATH, then "The two commands" in README.md: a kernel that hangs, and ktrace why.'
