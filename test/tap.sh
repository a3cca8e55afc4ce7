# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sourced by shell tests, which run in the project's root. Makes a scratch directory ($tmp), which is removed
# at the end, and prints results in TAP:
#
#   . test/tap.sh
#   check "summary counts every record" test "$n" -eq 40     checks that a command succeeds
#   equal "exit status" 13 "$status"                          checks that two words are the same
#   same "timeline" test/golden/v1.txt "$tmp/out"             checks that two files are the same
#   skip "KVM smoke" "/dev/kvm is absent"
#   await grep -q ready "$tmp/console"                        waits until a command succeeds; fails if it never does
#   check "it ends" eventually test -s "$tmp/end"             checks that a command succeeds sooner or later
#   done_testing
tap_n=0
tap_failed=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# Options for PCs that scripts/qemu.sh boots. Without a display and a network card, a boot takes a sixth less CPU
# time. qboot is a short firmware; it is used if QEMU was installed with it. qboot assigns no addresses to PCI
# devices, so a test whose kernel uses such devices sets PC_OPTIONS to $usual_firmware.
usual_firmware="-vga none -net none"
PC_OPTIONS=$usual_firmware
qemu_path=$(command -v qemu-system-x86_64)
[ ! -e "${qemu_path%/bin/*}/share/qemu/qboot.rom" ] || PC_OPTIONS="$usual_firmware -bios ${qemu_path%/bin/*}/share/qemu/qboot.rom"
export PC_OPTIONS

# tap_result STATUS NAME: prints a result. STATUS is "ok" or "not ok".
tap_result() {
	tap_n=$((tap_n + 1))
	printf '%s %d - %s\n' "$1" "$tap_n" "$2"
}

pass() { tap_result ok "$1"; }

fail() {
	tap_result "not ok" "$1"
	tap_failed=$((tap_failed + 1))
	shift
	[ $# -eq 0 ] || printf '%s\n' "$*" | sed 's/^/# /'
}

skip() { tap_result ok "$1 # SKIP $2"; }

check() {
	tap_name=$1
	shift
	if "$@" >"$tmp/.check" 2>&1; then
		pass "$tap_name"
	else
		fail "$tap_name" "failed: $*"
		sed 's/^/#   /' "$tmp/.check" | head -n 20
	fi
}

equal() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "expected '$2', got '$3'"; fi
}

same() {
	if cmp -s "$2" "$3"; then
		pass "$1"
	else
		fail "$1" "$3 differs from $2"
		diff -u "$2" "$3" | head -n 20 | sed 's/^/#   /'
	fi
}

# eventually COMMAND…: runs the command repeatedly until it succeeds. Fails after $patience seconds. Even
# on a busy machine, only a program that hangs takes so long. If a try takes more than 10 s, only 10 s count,
# because the machine may be virtual, and its host may have stopped it. Tests must not sleep for a fixed time. They
# wait for a condition with this function.
patience=120
# Times, in seconds, after which a command that should end by itself is terminated (limit) or killed
# (kill_limit). Only a hang takes so long.
limit=300
kill_limit=360
eventually() {
	set -- 0 "$(date +%s)" "$@" # the seconds that count so far, the time of the last try, the command
	until tap_try "$@"; do
		[ "$1" -lt $patience ] || return 1
		sleep 0.1
		tap_now=$(date +%s) tap_counted=$1
		tap_step=$((tap_now - $2))
		[ $tap_step -ge 0 ] || tap_step=0
		[ $tap_step -le 10 ] || tap_step=10
		shift 2
		set -- $((tap_counted + tap_step)) "$tap_now" "$@"
	done
}
tap_try() {
	shift 2
	"$@" >"$tmp/.eventually" 2>&1
}

# await COMMAND…: waits until the command succeeds. If it does not, the test fails in done_testing.
await() { eventually "$@" || echo "gave up after $patience s: $*" >>"$tmp/.gave_up"; }

# count_is_at_least N FILE PATTERN: succeeds if at least N lines of the file match the pattern.
count_is_at_least() { [ "$(grep -acE -e "$3" "$2")" -ge "$1" ]; }

# last_words: prints the end of the last guest's console and of the last messages, as comments.
last_words() {
	for words in console err; do
		[ ! -s "$tmp/$words" ] || tail -n 8 "$tmp/$words" | tr -d '\r' | sed "s/^/# $words: /"
	done
}

done_testing() {
	[ ! -e "$tmp/.gave_up" ] || fail "each await succeeded" "$(cat "$tmp/.gave_up")"
	[ "$tap_failed" -eq 0 ] || last_words
	printf '1..%d\n' "$tap_n"
	[ "$tap_failed" -eq 0 ]
	exit
}
