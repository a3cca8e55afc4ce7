# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sourced after test/tap.sh by tests that hold each option of --help against what it does. They run in $tmp, with $bin first in
# PATH; commands are started by `quiet` there, which leaves their output in the file `told`.
bin=$tmp/bin
mkdir "$bin" || exit 1
# Scripts of steps stand for hardware trace.
ln -s "$PWD/build/test/ktrace-script" "$bin/ktrace"
ln -s "$PWD/build/test/ktrace-script" "$bin/ktrace-decode"
mkdir "$tmp/share" && ln -s "$PWD/share" "$tmp/share/ktrace"
PATH=$bin:$PATH
printf '#!/bin/sh\nexec ktrace "$@" >told 2>&1 </dev/null\n' >"$bin/quiet"
chmod +x "$bin/quiet"
: >"$tmp/covered"

# run COMMAND WORD…: all that came of it, in `told`; the status in $status.
run() {
	rm -f out
	status=0
	timeout -k 5 $kill_limit quiet "$@" || status=$?
	echo "status $status" >>told
	[ ! -f out ] || cat out >>told
}

# works COMMAND OPTION BASE… -- MORE…: with MORE, which has the option, the outcome is another one than with BASE.
works() {
	command=$1 named=$2
	shift 2
	echo "$command $named" >>covered
	base=
	while [ "$1" != -- ]; do
		base="$base $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	run "$command" $base
	cp told before
	run "$command" "$@"
	if [ "$status" -eq 2 ]; then
		fail "$command $named works: $*" "refused: $(cat told)"
	elif cmp -s before told; then
		fail "$command $named works: $*" "nothing has changed"
	else
		pass "$command $named works: $*"
	fi
}

# refused COMMAND OPTION WORD…
refused() {
	command=$1 named=$2
	shift 2
	run "$command" "$@"
	if [ "$status" -eq 2 ] && grep -q -e "$named" told; then
		pass "refused: $command $*"
	else
		fail "refused: $command $*" "status $status: $(head -n 3 told)"
	fi
}

# decimal COMMAND OPTION NUMBER WORD…: with a zero in front of the number, the outcome is the same.
decimal() {
	command=$1 named=$2 number=$3
	shift 3
	run "$command" "$named" "$number" "$@"
	cp told before
	run "$command" "$named" "0$number" "$@"
	check "$command $named 0$number is $number" cmp before told
}

# opens COMMAND OPTION WORD…: a file that is not there is an error which names it.
opens() {
	command=$1 named=$2
	shift 2
	echo "$command $named" >>covered
	run "$command" "$@"
	if [ "$status" -ne 0 ] && [ "$status" -lt 10 ] && grep -q 'absent' told; then
		pass "$command $* is an error"
	else
		fail "$command $* is an error" "status $status: $(head -n 3 told)"
	fi
}

# beyond COMMAND OPTION TEST: what the option does needs a guest or a process; that test shows it.
beyond() {
	echo "$1 $2" >>covered
	check "$1 $2: shown by $3" grep -q -e "$2" "$root/$3"
}

# listed COMMAND: each option of its --help, long or of one letter, has been seen.
listed() {
	ktrace "$1" --help | grep '^  -' | sed 's/^ *//; s/\([^ ,]\)  .*/\1/' | sed 's/\[=[A-Za-z]*\]//g' |
		grep -o -e '\(^\|[ ,]\)--*[A-Za-z][a-z0-9-]*' | tr -d ' ,' | sort -u | grep -v '^--help$' >options
	while read -r option; do
		check "$1 $option is tried" grep -qx -e "$1 $option" covered
	done <options
	check "$1 --help lists options" test -s options
}
