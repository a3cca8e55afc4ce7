# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# For the tests of `ktrace record`. Output of the recorder and of the programs is kept in files.

ktrace=build/bin/ktrace
programs=build/test/record
export XDG_RUNTIME_DIR="$tmp"

# record [OPTION…] [COMMAND…]: runs ktrace record. Stores the exit status in $status, and the output in
# $tmp/out and $tmp/err.
record() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" record "$@" </dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
}

# Processes that are killed when the test ends: PID:START, or -PID:START for a process group. START is the time at
# which the process started, because the process id of a process that has ended may be given to another one.
kills=
started() { sed 's/.*) //' "/proc/${1#-}/stat" 2>/dev/null | cut -d ' ' -f 20; }
# kill_at_end PID: has the process killed when the test ends, if it still runs. -PID: the process group.
kill_at_end() {
	start=$(started "$1")
	[ -z "$start" ] || kills="$kills $1:$start"
}
kill_left() {
	for left in $kills; do
		start=$(started "${left%:*}")
		case $left in
		-*) [ -n "$start" ] || start=${left#*:} ;; # the processes of a group may outlive its leader
		esac
		[ "$start" != "${left#*:}" ] || kill -s KILL -- "${left%:*}" 2>/dev/null
	done
}
trap 'kill_left; rm -rf "$tmp"' EXIT

# calls FILE: prints "COUNT NAME" for each system call in FILE, sorted by name.
calls() {
	build/bin/kdump -f "$1" -t c | awk '{ for (n = 1; n < NF; n++) if ($n == "CALL") { sub(/\(.*/, "", $(n + 1)); print $(n + 1) } }' |
		sort | uniq -c | awk '{ print $1, $2 }'
}

# lines FILE KIND: prints the number of records of type KIND that kdump shows. KIND is kdump's word
# for the type, such as CALL.
lines() { build/bin/kdump -f "$1" | awk -v kind="$2" '{ for (n = 1; n <= NF && n < 5; n++) if ($n == kind) { count++; break } } END { print count + 0 }'; }

# message_has TEXT: checks that the recorder's messages contain TEXT.
# shown FILE TEXT: checks that kdump's output for FILE contains TEXT.
message_has() { check "a message has: $1" grep -qF -- "$1" "$tmp/err"; }
shown() { check "kdump shows: $2" sh -c 'build/bin/kdump -f "$1" | grep -qF -- "$2"' - "$1" "$2"; }
