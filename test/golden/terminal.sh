# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What commands print on a terminal: colours, and a pager. Without a terminal, they print the same text
# without colours. Python provides the terminal.
. test/tap.sh

root=$PWD
ktrace=$PWD/build/bin/ktrace
onpty=$PWD/test/golden/onpty.py
build/test/cmd-traces "$tmp" || exit 1
build/test/why-traces "$tmp" >"$tmp/made" 2>&1 || exit 1
cp test/golden/proc/dragonfly.ktrace "$tmp" || exit 1
cd "$tmp" || exit 1
unset NO_COLOR KTRACE_PAGER PAGER LESS || :
export TERM=xterm
escape=$(printf '\033')

# terminal COMMAND…: runs a command on a terminal. Stores its output in the file `seen`, its status in $status.
terminal() {
	status=0
	timeout -k 5 $kill_limit python3 "$onpty" "${keys-}" "$@" >seen 2>&1 </dev/null || status=$?
}

# has_colours: succeeds if the output has colours. uncoloured FILE: prints a file without colours.
has_colours() { grep -q "$escape\[[0-9;]*m" seen; }
uncoloured() { sed "s/$escape\[[0-9;]*m//g" "$1"; }
has_no_colours() { ! has_colours; }

# same_text NAME COMMAND…: checks that the command prints the same text to a terminal and to a file, but
# colours only to the terminal.
same_text() {
	name=$1
	shift
	"$ktrace" "$@" >plain 2>&1 </dev/null || :
	terminal "$ktrace" "$@" --no-pager
	uncoloured seen >seen.plain
	check "$name has colours on a terminal" has_colours
	same "$name prints the same text with colours" plain seen.plain
	check "$name has no colours without a terminal" sh -c "! grep -q '$escape' plain"
}
same_text show show v2.ktrx
same_text summary summary v2.ktrx
same_text stats stats v2.ktrx
same_text check check v2.ktrx
same_text why why inversion.ktrx
same_text doctor doctor v2.ktrx
same_text life life thread 12 v2.ktrx
same_text sql sql v2.ktrx 'SELECT "CPU" || cpu AS "CPU0" FROM events LIMIT 1'
same_text kdump kdump --oneline dragonfly.ktrace
same_text ktrdump ktrdump --where 'cpu == 1' -M v2.ktrx
same_text 'show of hostile names' show hostile.ktrx

terminal env NO_COLOR=1 "$ktrace" show --no-pager v2.ktrx
check "NO_COLOR: no colours" has_no_colours
terminal env TERM=dumb "$ktrace" show --no-pager v2.ktrx
check "a dumb terminal: no colours" has_no_colours
terminal "$ktrace" show --no-pager --color never v2.ktrx
check "--color never: no colours" has_no_colours
terminal "$ktrace" show --no-pager --color always --json v2.ktrx
check "JSON has no colours" has_no_colours
"$ktrace" show --color always v2.ktrx >seen 2>/dev/null
check "--color always: colours without a terminal" has_colours
"$ktrace" show v2.ktrx 2>&1 >plain | cat >plain.err
uncoloured seen >seen.plain
same "--color always: the same text" plain seen.plain
"$ktrace" show --color always --svg out.svg v2.ktrx >made 2>&1
check "a picture has no colours" sh -c "! grep -q '$escape' out.svg"

# ---- The pager
printf '#!/bin/sh\necho "LESS=$LESS $1"\nwc -l\n' >count
printf '#!/bin/sh\nhead -n 1\n' >first
printf '#!/bin/sh\nexec cat >all\n' >keep
chmod +x count first keep
for command in 'show v2.ktrx' 'stats v2.ktrx' 'summary v2.ktrx' 'why inversion.ktrx' 'life thread 12 v2.ktrx' \
	'check v2.ktrx' 'doctor v2.ktrx' 'kdump dragonfly.ktrace' 'ktrdump -M v2.ktrx'; do
	status=0
	# shellcheck disable=SC2086
	"$ktrace" $command >plain 2>/dev/null || status=$?
	expected=$status
	# shellcheck disable=SC2086
	KTRACE_PAGER="$PWD/keep" terminal "$ktrace" $command
	uncoloured all | grep -v '^\(ktrace\|ktrdump\|kdump\) *[a-z]*: ' >all.plain || :
	grep -v '^\(ktrace\|ktrdump\|kdump\) *[a-z]*: ' plain >plain.text || :
	same "$command: the pager gets the text" plain.text all.plain
	equal "$command: the exit status is kept" "$expected" "$status"
	rm -f all
done
KTRACE_PAGER="$PWD/keep" terminal "$ktrace" sql v2.ktrx 'SELECT 1 AS one'
check "sql: the pager gets the rows of a query" grep -q one all
KTRACE_PAGER="$PWD/count x" PAGER=false terminal "$ktrace" show v2.ktrx
check "the pager is a command with words, and gets LESS=FRX" grep -qx 'LESS=FRX x' seen
LESS=S KTRACE_PAGER='' PAGER="$PWD/count" terminal "$ktrace" show v2.ktrx
check "an empty KTRACE_PAGER: no pager" grep -q sched.switch seen
LESS=S PAGER="$PWD/count" terminal "$ktrace" show v2.ktrx
check "LESS of the user is kept, and PAGER is used" grep -qx 'LESS=S ' seen
rm -f all
KTRACE_PAGER="$PWD/keep" terminal "$ktrace" show --no-pager v2.ktrx
check "--no-pager: no pager" test ! -e all
KTRACE_PAGER="$PWD/keep" "$ktrace" show v2.ktrx >plain 2>&1
check "no terminal: no pager" test ! -e all
KTRACE_PAGER="$PWD/keep" terminal "$ktrace" show --json v2.ktrx
check "JSON: no pager" test ! -e all

# A pager that ends early does not change the status, and there is no message. The output is larger than
# the buffer of a pipe.
for n in 0 1 2 3; do seq $((10 + 20000 * n)) $((20009 + 20000 * n)) | sed "s/.*/7 1700000000.00& read(3, \"\", $n) = &/"; done >a.strace
sed 's/= /= 1/' a.strace >b.strace
KTRACE_PAGER="$PWD/first" terminal "$ktrace" diff -n 0 a.strace b.strace
equal "a pager that ends early: status" 1 "$status"
equal "a pager that ends early: no message" 1 "$(wc -l <seen)"
if command -v less >/dev/null; then
	keys=q terminal "$ktrace" why inversion.ktrx
	equal "less: the key q ends it with the status of the command" 10 "$status"
	check "less shows the verdict" grep -q 'priority-inversion\|priority inversion' seen
	terminal env PATH="$PWD" "$ktrace" show v2.ktrx
	check "without less there is no pager" grep -q sched.switch seen
fi

# ---- The progress line. `ktrace show` waits because its output is not read until the line has appeared.
"$root/build/test/memory-trace" long.ktrx 100 40 4 || exit 1
"$ktrace" show long.ktrx >plain 2>plain.err
cat >slow <<'END'
"$1" show --color always long.ktrx | {
	read -r first
	for _ in $(seq 600); do
		! grep -q events/s seen || break
		sleep 0.1
	done
	{ echo "$first"; cat; } >shown
}
END
terminal sh slow "$ktrace"
check "a progress line has percent, rate and rest: $(tr '\r' '\n' <seen | sed -n 's/.*\(ktrace show: .*s left\).*/\1/p' | head -n 1)" \
	grep -q 'ktrace show: [0-9]*%, [0-9]* events/s, [0-9]* s left' seen
equal "the progress line is erased at the end" "$(printf '\r\033[K')" "$(tail -c 4 seen)"
check "the output has no part of the progress line" sh -c "! grep -q events/s shown"
uncoloured shown >seen.plain
same "the output beside a progress line is complete" plain seen.plain
check "without a terminal there is no progress line" sh -c "! grep -q events/s plain.err"
done_testing
