# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A panic ends recording, and the trace ends with the panic; or, if debug.ktr.panic_goes_on is set, recording
# continues.
. test/tap.sh
. test/qemu/run_support.sh

# boot ARCH GOES_ON: runs a guest that panics; leaves the timeline in $tmp/shown, the settings in
# $tmp/settings.
boot() {
	run -- $(demo "$1" 2) -append "debug=ktrace run=panic debug.ktr.panic_goes_on=$2"
	"$ktrace" show "$out" >"$tmp/shown" 2>/dev/null
	"$ktrace" show --settings "$out" >"$tmp/settings" 2>/dev/null
}

for arch in x86_64 aarch64 riscv64; do
	boot "$arch" 0
	equal "$arch: a panic" 10 "$status"
	check "$arch: what came before is kept" grep -q 'sched\.switch' "$tmp/shown"
	check "$arch: and the panic is the last there is" sh -c "tail -n 1 '$tmp/shown' | grep -q 'ktrace\.panic'"
	check "$arch: recording has stopped" grep -q '^recording stopped' "$tmp/settings"
	check "$arch: though events are still wanted" grep -q 'sched.switch *off *on' "$tmp/settings"

	boot "$arch" 1
	equal "$arch, going on: a panic" 10 "$status"
	check "$arch, going on: what came after is there" \
		sh -c "sed -n '/ktrace\.panic/,\$p' '$tmp/shown' | grep -q 'panic\.exit'"
	check "$arch, going on: the setting says so" grep -qx 'debug.ktr.panic_goes_on: 1' "$tmp/settings"
	check "$arch, going on: recording has not stopped" grep -q '^recording started' "$tmp/settings"
done
done_testing
