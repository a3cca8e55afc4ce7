# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests what `ktrace record` records about waits, addresses of sockets and handlers: only waits of the program
# itself, and no invented values.
. test/tap.sh
. test/record/record_support.sh

# Between the two calls of mkdir(2) there are 400 calls that do not wait, and 20 that do. The recorder stops
# the thread twice in each of the 400 calls; these stops are not waits.
record -t cnw -f "$tmp/sleeps" "$programs/waits" sleeps 20
equal "waits: exit status" 0 "$status"
build/bin/kdump -f "$tmp/sleeps" | awk '/"\/nowhere\/begin"/ { on = 1 } /"\/nowhere\/end"/ { on = 0 } on' >"$tmp/between"
equal "all calls that wait or do not wait are recorded" "400 20" "$(grep -c 'CALL  getppid' "$tmp/between") $(grep -c 'CALL  clock_nanosleep\|CALL  nanosleep' "$tmp/between")"
equal "each sleep is recorded as a wait, and no stop for the recorder is" 20 "$(grep -c ' CSW ' "$tmp/between")"
sed -n 's/.* CSW .*, \([0-9]*\) times$/\1/p' "$tmp/between" >"$tmp/counts"
check "each recorded wait increments the count by one" awk 'NR > 1 && $1 != last + 1 { exit 1 } { last = $1 }' "$tmp/counts"
equal "no wait is recorded after a call that does not wait" 0 "$(grep -A 1 'CALL  getppid' "$tmp/between" | grep -c ' CSW ')"

record -f "$tmp/sockets" "$programs/waits" sockets "$tmp/socket"
equal "sockets: exit status" 0 "$status"
shown "$tmp/sockets" '{ AF_UNIX, unnamed }'
shown "$tmp/sockets" "{ AF_UNIX, \"$tmp/socket\" }"
shown "$tmp/sockets" '{ AF_UNIX, @"ktrace '
shown "$tmp/sockets" '{ AF_UNSPEC, no address }'
check "kdump knows every address family" sh -c '! build/bin/kdump -f "$1" | grep "unknown address family"' - "$tmp/sockets"
build/bin/kdump --json -f "$tmp/sockets" >"$tmp/json"
check "JSON has the path of a socket" grep -qF "{\"family\":\"AF_UNIX\",\"path\":\"$tmp/socket\"}" "$tmp/json"
check "JSON has the abstract name of a socket" grep -qF '{"family":"AF_UNIX","path":"\u0000ktrace ' "$tmp/json"

# The signal handler was set before recording began.
mkfifo "$tmp/in" "$tmp/ready"
"$programs/waits" signal <"$tmp/in" >"$tmp/ready" &
target=$!
exec 8>"$tmp/in" 7<"$tmp/ready"
read -r word <&7
equal "a program with an earlier handler catches the signal" ready "$word"
record -f "$tmp/signal" -p "$target"
equal "-p: status" 0 "$status"
echo go >&8
wait "$target"
exec 8>&- 7<&-
ended() { build/bin/kdump -f "$tmp/signal" 2>/dev/null | grep -q ' EXIT '; }
check "the end of a program with an earlier handler is recorded" eventually ended
shown "$tmp/signal" 'SIGUSR1 caught handler=unknown mask=0x0'
check "kdump --oneline: an earlier handler is unknown" sh -c 'build/bin/kdump --oneline -f "$1" | grep -qF "handler unknown}"' - "$tmp/signal"
check "kdump --json: an earlier handler is null" sh -c 'build/bin/kdump --json -f "$1" | grep -qF "\"handler\":null"' - "$tmp/signal"
check "ktrace show: an earlier handler is unknown" sh -c 'build/bin/ktrace show --event proc.signal "$1" | grep -qF "handler unknown"' - "$tmp/signal"
check "an earlier handler is not shown as 0xffff…" sh -c '! { build/bin/kdump -f "$1"; build/bin/ktrace show "$1"; } | grep -i 0xffffffffffffffff | grep -i sigusr1' - "$tmp/signal"
done_testing
