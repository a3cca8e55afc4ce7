# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs a kernel whose CPUs' counters differ by at least 10 ms and drift by at least 100 ppm, on each
# architecture. It measures its clocks while a busy loop runs on each CPU of the host. The raw trace is out of
# order. The measurements bring it into order, within the stated error; so do causes and effects alone.
# CLOCK_ARCHES: architectures to test (default: all three).
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/loss_support.sh

skewed=build/skewed
enough=5 # measurements of each CPU that suffice to know the drift of its clock
error_max=5000 # microseconds: half of the smallest difference between the clocks of two CPUs
measured_cpus() { sed -n 's/^clocks *of \([0-9]*\) CPUs corrected.*/\1/p' "$tmp/summary"; }
error_us() { sed -n 's/^clocks *of .* with an error of up to \([0-9]*\)[0-9.]* us$/\1/p' "$tmp/summary"; }
doubt_us() { sed -n 's/^clocks *order between CPUs: uncertain for events less than \([0-9.]*\) us apart.*/\1/p' "$tmp/summary"; }

# Seconds for which the guest runs each of its workloads. On a busy host, a guest needs longer for the same number
# of measurements, and of causes and effects.
all_seconds="1 4 16"

# boot_beside_loops ARCH ARGUMENTS: like boot, while a busy loop runs on each CPU of the host until the guest has
# ended.
busy=
# shellcheck disable=SC2086
trap 'kill $busy 2>/dev/null; rm -rf "$tmp"' EXIT
boot_beside_loops() {
	for _ in $(seq "$(nproc)"); do
		sh -c 'while :; do :; done' &
		busy="$busy $!"
	done
	run_guest "$@"
	# shellcheck disable=SC2086
	kill $busy
	# shellcheck disable=SC2086
	wait $busy 2>/dev/null
	busy=
	summarise
}

# boot ARCH ARGUMENTS: stores the trace in $out and its summary in $tmp/summary.
boot() {
	run_guest "$@"
	summarise
}

run_guest() {
	run -q -- $(KERNEL=$skewed/$1/kernel.elf demo "$1") \
		-append "debug=sched,ipi slots=262144 run=pingpong,ipi,sleepers seconds=$seconds $2"
}

summarise() {
	"$ktrace" summary "$out" >"$tmp/summary" 2>>"$tmp/err"
	measurements=$(build/test/clock_samples "$out")
}

# shown NAME OPTION…: shows the trace once with these options. Stores the events in $tmp/NAME, the messages in
# $tmp/NAME.messages.
shown() {
	shown_name=$1
	shift
	"$ktrace" show --json "$@" "$out" >"$tmp/$shown_name" 2>"$tmp/$shown_name.messages"
}

# order NAME: prints four numbers about the events in $tmp/NAME: switches, switches that are out of order
# by more than $doubt seconds, interrupts, and interrupts that are out of order.
doubt=0
order() { awk -v doubt="$doubt" -f test/qemu/clock_order.awk "$tmp/$1"; }

# pairs: prints the number of causes and effects of the kind of which $tmp/order has fewer.
pairs() { awk '{ print $1 < $3 ? $1 : $3 }' "$tmp/order"; }

# wrong NAME: prints the number of switches and interrupts out of order.
wrong() { order "$1" | awk '{ print $2 + $4 }'; }

# moved: prints the maximum number of microseconds by which --align moves an event, relative to CPU 0's clock,
# which does not move. Events of one CPU keep their order.
moved() {
	awk -F '[:,]' '!/^[{]"time":/ || $4 == "null" { next }
		NR == FNR { time[$4, events[$4]++] = $2; next }
		{
			by = $2 - time[$4, seen[$4]++]
			if ($4 == 0 && seen[0] == 1) base = by
			if (!any++ || by > most) most = by
			if (any == 1 || by < least) least = by
		}
		END {
			for (cpu in events) if (events[cpu] != seen[cpu]) { print "events differ"; exit }
			printf "%.1f\n", (most - base > base - least ? most - base : base - least) * 1e6
		}' "$tmp/measured" "$tmp/aligned"
}

# states VIEW COMMAND…: runs the command, and checks that its output states how certain the order between
# CPUs is. Stores its output in $tmp/view and its exit status in $viewed.
states() {
	view=$1 viewed=0
	shift
	"$@" >"$tmp/view" 2>&1 || viewed=$?
	check "$arch: $view states how certain the order between CPUs is" grep -q "$certainty" "$tmp/view"
}
certainty='order between CPUs: uncertain for events less than [0-9.]* us apart'

for arch in ${CLOCK_ARCHES:-x86_64 aarch64 riscv64}; do
	check "$arch: a kernel with differing clocks builds" \
		make -s "demo-$arch" DEMO_CLOCK_SKEW=10000,100 DEMO_OPTIMISE=-O0 DEMO_OUT=$skewed \
		DEMO_USER_OUT=build/demo DEMO_SAME_OUT=build/demo

	for seconds in $all_seconds; do
		boot_beside_loops "$arch" ktrace=debug.ktr.resynchronize=1
		shown measured
		order measured >"$tmp/order"
		[ "$measurements" -lt $enough ] || [ "$(pairs)" -lt 200 ] || break
	done
	equal "$arch: the kernel with differing clocks boots and ends" 0 "$status"
	equal "$arch: the clocks of three CPUs are measured" 3 "$(measured_cpus)"
	check "$arch: each clock is measured often enough: $measurements times" test "$measurements" -ge $enough
	check "$arch: the error of the measurement is small: $(error_us) us" test "$(error_us)" -le $error_max
	check "$arch: no slots are lost" nothing_lost "$tmp/summary" 4
	check "$arch: when measurements fail, summary also reports how many succeeded" sh -c \
		"! grep 'CPU 0 was too busy' '$tmp/summary' || grep -q '^clocks *measured [1-9][0-9]* times' '$tmp/summary'"
	printf '# %s: %s; %s\n' "$arch" "$(cat "$tmp/order")" "$(grep '^clocks' "$tmp/summary" | tr -s ' ' | paste -sd ';')"
	check "$arch: there are at least 200 pairs of cause and effect of each kind" test "$(pairs)" -ge 200
	# The printed uncertainty includes the errors of both clocks, also before the first measurement and
	# after the last one. It is rounded to 0.1 us.
	check "$arch: the stated uncertainty of the order between CPUs is small: $(doubt_us) us" \
		awk -v us="$(doubt_us)" -v most=$error_max 'BEGIN { exit !(us > 0 && us <= 2 * most) }'
	doubt=$(awk -v us="$(doubt_us)" 'BEGIN { print (us + 0.1) / 1e6 }')
	equal "$arch: with measured clocks no effect precedes its cause by more than the stated uncertainty" 0 "$(wrong measured)"
	check "$arch: with measured clocks no ring is out of order" sh -c "! grep 'out of order' '$tmp/measured.messages'"
	shown aligned --align
	equal "$arch: with measured clocks and --align no effect precedes its cause" 0 "$(wrong aligned)"
	moved=$(moved)
	check "$arch: --align moves no event by more than half of the stated uncertainty: $moved us" \
		awk -v moved="$moved" -v us="$(doubt_us)" 'BEGIN { exit !(moved ~ /^[0-9]/ && moved <= us / 2 + 0.1) }'
	shown raw --raw-clock
	check "$arch: with raw clocks many effects precede their causes" test "$(wrong raw)" -ge 20
	check "$arch: summary states how certain the order between CPUs is" grep -q "$certainty" "$tmp/summary"
	states show "$ktrace" show "$out"
	states stats "$ktrace" stats "$out"
	states check "$ktrace" check "$out"
	equal "$arch: check reports no violation between events closer than the uncertainty" 0 "$viewed"
	check "$arch: check --align reports no violation either" "$ktrace" check --align "$out"
	states why "$ktrace" why "$out"
	states doctor "$ktrace" doctor "$out"
	check "$arch: doctor reports no violation either, at most undecided rules" grep -E '^(ok|note) *rules' "$tmp/view"
	states "export --format json" "$ktrace" export --format json -o "$tmp/export" "$out"
	doubt=0

	for seconds in $all_seconds; do
		boot "$arch" ""
		shown measured
		recorded=$(wrong measured)
		[ "$recorded" -lt 20 ] || break
	done
	check "$arch: by default the kernel does not measure its clocks" sh -c "! grep 'clocks *of\|clocks *measured' '$tmp/summary'"
	check "$arch: without measurement many effects precede their causes: $recorded" test "$recorded" -ge 20
	# If several interrupts are delivered as one, it is unknown which of them caused the effect. So a
	# few pairs may remain out of order.
	shown aligned --align
	order aligned >"$tmp/order"
	sed 's/^/# /' "$tmp/aligned.messages"
	# On a busy host, virtual CPUs are paused for long times, and only a few pairs of cause and effect
	# relate their clocks. Then a few more events stay out of order. If there are too few pairs, show
	# reports that it does not change the clocks.
	if grep -q 'found no offsets that bring more effects into order' "$tmp/aligned.messages"; then
		equal "$arch: when --align finds no offsets, it leaves the order as it was" "$recorded" "$(awk '{ print $2 + $4 }' "$tmp/order")"
	else
		check "$arch: with --align hardly any effect precedes its cause ($(cat "$tmp/order"))" \
			awk -v recorded="$recorded" '{ exit $2 + $4 > ($1 + $3) / 200 && $2 + $4 > recorded / 20 }' "$tmp/order"
	fi
	check "$arch: with --align no ring is out of order" sh -c "! grep 'out of order' '$tmp/aligned.messages'"
done
done_testing
