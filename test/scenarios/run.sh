#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Boots the demo kernel with each of its bugs and runs `ktrace why`. Prints a line for each scenario: its
# name, the architecture, the verdict, and `ok` or `WRONG` with the reason. The last line is "N passed, N
# failed". The files of each run are in build/scenarios.
#
#	test/scenarios/run.sh [NAME[/ARCHITECTURE]]…
#
# test/scenarios/list defines the scenarios and what is expected. Without names, all scenarios run; an unknown
# name is refused. Two guests run at a time.
set -u
cd "$(dirname "$0")/../.." || exit 1
self=test/scenarios/run.sh
list=test/scenarios/list
out=build/scenarios
ktrace=build/bin/ktrace
why_limit=120 # seconds; only a hang takes this long
patience=32   # multiple of the time that a bug takes to show on a quiet host

# wanted NAME ARCHITECTURE [NAME[/ARCHITECTURE]]…: succeeds if the scenario in the first two arguments is
# among the other arguments, or if there are no others.
wanted() {
	name=$1 arch=$2
	shift 2
	[ $# -gt 0 ] || return 0
	for one; do
		[ "$one" != "$name" ] && [ "$one" != "$name/$arch" ] || return 0
	done
	return 1
}

# each_run LINE-NUMBER NAME ARCHITECTURES VERDICT ARGUMENTS: prints "LINE-NUMBER NAME ARCHITECTURE SEED" for
# each run of a line of the list. SEED is "-" if the line has no range of seeds.
each_run() {
	first=-	last=-
	case " $5" in
	*" seed="*-*)
		seeds=${5##*seed=}
		seeds=${seeds%% *}
		first=${seeds%-*} last=${seeds#*-} ;;
	esac
	for arch in $(echo "$3" | tr , ' '); do
		# shellcheck disable=SC2086
		wanted "$2" "$arch" $names || continue
		if [ "$first" = - ]; then
			echo "$1 $2 $arch -"
		else
			seq "$first" "$last" | sed "s,^,$1 $2 $arch ,"
		fi
	done
}

# runs: prints the output of each_run for the wanted runs in all lines of the list.
runs() {
	number=0
	while IFS= read -r line; do
		number=$((number + 1))
		case $line in
		'' | '#'*) continue ;;
		esac
		eval "set -- $line"
		each_run "$number" "$1" "$2" "$3" "$4"
	done <$list
}

# known NAME[/ARCHITECTURE]: succeeds if the list has a scenario with this name, for this architecture if
# one is given.
known() {
	names=$1
	[ -n "$(runs)" ]
}

# judge TRACE VERDICT [REGULAR EXPRESSION]…: runs why on the trace, and compares its output with VERDICT and
# the regular expressions. Prints why's verdict, and `ok`, or `WRONG` with the reason.
judge() {
	trace=$1 expected=$2
	shift 2
	timeout -k 2 $why_limit $ktrace why "$trace" >"$base.why" 2>"$base.err"
	status=$?
	timeout -k 2 $why_limit $ktrace why --json "$trace" >"$base.json" 2>>"$base.err"
	verdict=$(grep -o '"verdict": *"[a-z-]*"' "$base.json" | sed -n '1s/.*"\([a-z-]*\)"$/\1/p')
	case $expected in
	*:*) wanted_status=${expected#*:} expected=${expected%:*} ;;
	idle | busy) wanted_status=0 ;;
	unknown) wanted_status=11 ;;
	*) wanted_status=10 ;;
	esac
	if [ "$verdict" != "$expected" ]; then
		echo "${verdict:--} WRONG: expected $expected"
		return
	fi
	if [ $status -ne $wanted_status ]; then
		echo "$verdict WRONG: exit status $status"
		return
	fi
	tr -s ' \n' ' ' <"$base.why" >"$base.joined" # a sentence may be broken into two lines
	for pattern; do
		if [ "${pattern#!}" != "$pattern" ]; then
			grep -qE -e "${pattern#!}" "$base.why" "$base.joined" || continue
			echo "$verdict WRONG: the text matches ${pattern#!}"
			return
		fi
		grep -qE -e "$pattern" "$base.why" "$base.joined" && continue
		echo "$verdict WRONG: the text does not match $pattern"
		return
	done
	echo "$verdict ok"
}

is_running() { kill -0 $run 2>/dev/null; }

# ready: waits until the guest has printed its first line. The running time of a healthy guest is counted from
# then on.
ready() { until grep -qs 'demo: [0-9]* CPUs,' "$base.console" || ! is_running; do sleep 0.1; done; }

# is_seen: succeeds if why finds the bug in the running guest; this takes longer on a busy host. For a healthy
# guest it always succeeds, because such a guest is examined only once, after its end.
is_seen() {
	case $expected in
	idle | busy) return 0 ;;
	esac
	for ram in "$base.ram"/*.ram; do
		case $(judge "$ram" "$expected") in
		*" ok") return 0 ;;
		esac
	done
	sleep 1
	return 1
}

# one LINE-NUMBER NAME ARCHITECTURE SEED: performs one run, and prints a line with its result.
one() {
	name=$2 arch=$3 seed=$4
	eval "set -- $(sed -n "$1p" $list)"
	expected=$3 arguments=$4
	shift 4
	if [ "$seed" != - ]; then
		name=$name-$seed
		arguments=$(echo "$arguments" | sed "s/seed=[^ ]*/seed=$seed/")
	fi
	case " $arguments" in
	*" watch="*) watch=${arguments##*watch=} watch=${watch%% *} ;;
	*) watch=4 ;;
	esac
	base=$out/$name-$arch
	rm -rf "$base".*
	mkdir "$base.ram"
	# A QEMU may hang while it ends. Then ktrace kills it after a few seconds, so the time limit is 120 s
	# longer than the guest's.
	# shellcheck disable=SC2046
	timeout -k 60 $((watch * patience + 120)) $ktrace run --quiet --stall 2 --timeout $((watch * patience)) --keep-ram --ram-dir "$base.ram" \
		--out "$base.ktrx" -- $(sh scripts/qemu.sh "$arch") -append "$arguments" </dev/null >"$base.console" 2>"$base.run" &
	run=$!
	case $expected in
	idle | busy) ready ;;
	esac
	seen=$(($(date +%s) + watch))
	while is_running && { [ "$(date +%s)" -lt $seen ] || ! is_seen; }; do sleep 0.2; done
	kill $run 2>/dev/null
	wait $run
	rm -rf "$base.ram"
	result=$(judge "$base.ktrx" "$expected" "$@")
	printf '%-16s %-8s %-20s %s\n' "$name" "$arch" "${result%% *}" "${result#* }"
}

if [ "${1-}" = --one ]; then
	shift
	one "$@"
	exit
fi
for one; do
	known "$one" || { echo "run.sh: no scenario $one in test/scenarios/list" >&2; exit 2; }
done
mkdir -p $out
names=$*
runs | xargs -r -n 4 -P 2 sh $self --one | tee $out/table
awk '/ ok$/ { passed++ } END { printf "%d passed, %d failed\n", passed, NR - passed; exit passed < NR || NR == 0 }' $out/table
