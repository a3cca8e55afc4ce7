# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests the tables of state in a running guest. Each of two threads that wait for each other has an entry with
# the lock's owner and the place. No CPU reports a broken rule. Correct code breaks no rule either.
. test/tap.sh
. test/qemu/run_support.sh

# stuck: succeeds if the tables of state in the guest's memory show that two threads wait for each
# other.
stuck() { "$ktrace" extract -o "$out" "$tmp/ram" && build/test/state_check "$out"; }

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	timeout -k 5 $kill_limit $(demo $arch 2 | sed 's/-nographic/-display none/; s/-m 128M//') \
		$("$ktrace" qemu-args $arch --ram "$tmp/ram") -append "run=abba" >/dev/null 2>&1 &
	guest=$!
	check "$arch: the state shows two threads that wait for each other" eventually stuck
	kill $guest
	wait $guest 2>/dev/null
	rm -f "$tmp/ram"

	# shellcheck disable=SC2046
	run -- $(demo $arch 4) -append "run=mix,busy"
	check "$arch: correct work breaks no rule" sh -c "'$ktrace' summary '$out' >/dev/null &&
		build/test/state_check --sound '$out'"
done

done_testing
