# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sourced after test/tap.sh by tests that check the effect of each option in --help. They run in $tmp, with $bin first in
# PATH. The command $bin/quiet starts another command and writes its output to the file `output`.
bin=$tmp/bin
mkdir "$bin" || exit 1
# The tests use scripts of steps in place of hardware traces.
ln -s "$PWD/build/test/ktrace-script" "$bin/ktrace"
ln -s "$PWD/build/test/ktrace-script" "$bin/ktrace-decode"
mkdir "$tmp/share" && ln -s "$PWD/share" "$tmp/share/ktrace"
PATH=$bin:$PATH
printf '#!/bin/sh\nexec ktrace "$@" >output 2>&1 </dev/null\n' >"$bin/quiet"
chmod +x "$bin/quiet"
: >"$tmp/covered"

# run COMMAND WORD…: runs a command. Writes its output, its exit status and the contents of the file `out` to
# the file `output`. Stores the exit status in $status.
run() {
	rm -f out
	status=0
	timeout -k 5 $kill_limit quiet "$@" || status=$?
	echo "status $status" >>output
	[ ! -f out ] || cat out >>output
}

# works COMMAND OPTION BASE… -- MORE…: checks that the option has an effect. Runs the command with the
# arguments BASE, then with the arguments MORE, which contain the option. The results must differ.
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
	cp output before
	run "$command" "$@"
	if [ "$status" -eq 2 ]; then
		fail "$command $named works: $*" "refused: $(cat output)"
	elif cmp -s before output; then
		fail "$command $named works: $*" "nothing has changed"
	else
		pass "$command $named works: $*"
	fi
}

# refused COMMAND OPTION WORD…: checks that the command fails with status 2, and that its message contains the
# option.
refused() {
	command=$1 named=$2
	shift 2
	run "$command" "$@"
	if [ "$status" -eq 2 ] && grep -q -e "$named" output; then
		pass "refused: $command $*"
	else
		fail "refused: $command $*" "status $status: $(head -n 3 output)"
	fi
}

# decimal COMMAND OPTION NUMBER WORD…: checks that a leading zero of the number does not change the result.
decimal() {
	command=$1 named=$2 number=$3
	shift 3
	run "$command" "$named" "$number" "$@"
	cp output before
	run "$command" "$named" "0$number" "$@"
	check "$command $named 0$number is $number" cmp before output
}

# opens COMMAND OPTION WORD…: checks that the command fails because the file of the option is absent, and that
# its message names the file.
opens() {
	command=$1 named=$2
	shift 2
	echo "$command $named" >>covered
	run "$command" "$@"
	if [ "$status" -ne 0 ] && [ "$status" -lt 10 ] && grep -q 'absent' output; then
		pass "$command $* is an error"
	else
		fail "$command $* is an error" "status $status: $(head -n 3 output)"
	fi
}

# beyond COMMAND OPTION TEST: used for an option whose effect needs a guest or a process. Checks that the
# script TEST, which tests the effect, contains the option.
beyond() {
	echo "$1 $2" >>covered
	check "$1 $2: shown by $3" grep -q -e "$2" "$root/$3"
}

# listed COMMAND: checks that each option in the command's --help, long or of one letter, was tested.
listed() {
	ktrace "$1" --help | grep '^  -' | sed 's/^ *//; s/\([^ ,]\)  .*/\1/' | sed 's/\[=[A-Za-z]*\]//g' |
		grep -o -e '\(^\|[ ,]\)--*[A-Za-z][a-z0-9-]*' | tr -d ' ,' | sort -u | grep -v '^--help$' >options
	while read -r option; do
		check "$1 $option is tried" grep -qx -e "$1 $option" covered
	done <options
	check "$1 --help lists options" test -s options
}
