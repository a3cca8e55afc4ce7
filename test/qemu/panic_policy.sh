# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A panic ends recording, and the trace ends with the panic; or, if debug.ktr.panic_goes_on is set, recording
# continues.
. test/tap.sh
. test/qemu/run_support.sh

# boot ARCH GOES_ON: runs a guest that panics, with the setting debug.ktr.panic_goes_on=GOES_ON. Stores the
# timeline in $tmp/shown and the settings in $tmp/settings.
boot() {
	run -- $(demo "$1" 2) -append "debug=ktrace run=panic debug.ktr.panic_goes_on=$2"
	"$ktrace" show "$out" >"$tmp/shown" 2>/dev/null
	"$ktrace" show --settings "$out" >"$tmp/settings" 2>/dev/null
}

for arch in x86_64 aarch64 riscv64; do
	boot "$arch" 0
	equal "$arch, panic_goes_on=0: the guest panics" 10 "$status"
	check "$arch, panic_goes_on=0: the trace has events before the panic" grep -q 'sched\.switch' "$tmp/shown"
	check "$arch, panic_goes_on=0: the panic is the last event" sh -c "tail -n 1 '$tmp/shown' | grep -q 'ktrace\.panic'"
	check "$arch, panic_goes_on=0: recording has stopped" grep -q '^recording stopped' "$tmp/settings"
	check "$arch, panic_goes_on=0: the settings of events are unchanged" grep -q 'sched.switch *off *on' "$tmp/settings"

	boot "$arch" 1
	equal "$arch, panic_goes_on=1: the guest panics" 10 "$status"
	check "$arch, panic_goes_on=1: the trace has events after the panic" \
		sh -c "sed -n '/ktrace\.panic/,\$p' '$tmp/shown' | grep -q 'panic\.exit'"
	check "$arch, panic_goes_on=1: the trace has the setting" grep -qx 'debug.ktr.panic_goes_on: 1' "$tmp/settings"
	check "$arch, panic_goes_on=1: recording has not stopped" grep -q '^recording started' "$tmp/settings"
done
done_testing
