# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions for the console_*.sh tests. They type at the demo kernel's serial line, and bring what the console
# and the host show of the same trace into the same form: lines "cpu0 group_event text".

ktrace=build/bin/ktrace
export TMPDIR="$tmp"

# boot ARCH "BOOT ARGUMENTS" [KEY…]: runs a guest and types the keys (see type_keys). Stores the console in
# $tmp/lines, the trace in $tmp/trace, the exit status in $status.
boot() {
	boot_arch=$1 boot_arguments=$2
	shift 2
	: >"$tmp/console"
	status=0
	rm -f "$tmp/keys" "$tmp"/trace.*.ram
	mkfifo "$tmp/keys"
	exec 3<>"$tmp/keys" # the serial line stays open after the last key
	type_keys "$@" >&3 &
	typist=$!
	# shellcheck disable=SC2046
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/trace" -- $(sh scripts/qemu.sh "$boot_arch" 2) \
		-append "$boot_arguments" <&3 >"$tmp/console" 2>"$tmp/err" || status=$?
	exec 3>&-
	kill "$typist" 2>/dev/null
	wait "$typist"
	sed 's/--More--\r *\r//g; s/^Booting from ROM\.*//' "$tmp/console" | tr -d '\r' >"$tmp/lines"
}

# occurs TEXT COUNT: succeeds if the console contains TEXT at least COUNT times.
occurs() { [ "$(grep -aoF -e "$1" "$tmp/console" | wc -l)" -ge "$2" ]; }

# records EVENT COUNT: succeeds if each CPU of the running guest has recorded EVENT at least COUNT times.
records() {
	"$ktrace" extract -o "$tmp/live" "$tmp"/trace.*.ram && "$ktrace" show --event "$1" "$tmp/live" >"$tmp/recorded" &&
		count_is_at_least "$2" "$tmp/recorded" ' CPU0 ' && count_is_at_least "$2" "$tmp/recorded" ' CPU1 '
}

# type_keys KEY…: for each argument, in order: "await:COUNT:TEXT" waits for a text on the console,
# "records:COUNT:EVENT" waits for recorded events, "key:C" types a key (escapes as in printf); any other
# argument is typed as a command at the next prompt.
type_keys() {
	prompts=0
	for key; do
		case $key in
		await:*)
			key=${key#await:}
			await occurs "${key#*:}" "${key%%:*}"
			;;
		records:*)
			key=${key#records:}
			await records "${key#*:}" "${key%%:*}"
			;;
		key:*) printf '%b' "${key#key:}" ;;
		*)
			prompts=$((prompts + 1))
			await occurs 'db> ' "$prompts"
			printf '%s\r' "$key"
			;;
		esac
	done
}

# answer COMMAND: prints the output between this command and the next prompt.
answer() {
	awk -v command="db> $1" '/^db> / { on = $0 == command; next } on' "$tmp/lines"
}

# plain: converts lines of `show ktr` to "cpu0 group_event text".
plain() { sed -nE 's/^(cpu[0-9]+) [0-9]+: ([0-9]+ [^ ]+:[0-9]+ )?([^ ]+)  (from\([^)]*\) )?(.*)$/\1 \3 \5/p'; }

# host [OPTION…]: prints the output of `ktrace show` with these options, in the form of plain, the newest
# event first. Omits callers. Also omits the data that the host adds to some events: names of threads and
# interrupts, and paths of files.
host() {
	"$ktrace" show "$@" "$tmp/trace" 2>/dev/null | tac |
		sed -nE 's/^\[ *[0-9.]+\] CPU([0-9]+) +[^.]* ([^ .]+)\.([^ ]+) +(.*)$/cpu\1 \2_\3 \4/p' |
		sed -E 's/( <- 0x[0-9a-f]+)+$//; / (sched_(switch|wake|block)|vfs_(read|write|close)|irq_(eoi|exit)) /s/ \([^()]*\)$//'
}
