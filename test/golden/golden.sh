# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sourced after test/tap.sh by tests that compare the output of commands with the files $golden/NAME, word for
# word. After an intended change, run such a test with UPDATE=1, which updates the files, and read the
# difference.
PATH=$PWD/build/bin:$PATH

# golden NAME COMMAND…: runs the command in $tmp, and compares its standard output, exit status and standard
# error, in this order, with the golden file NAME.
golden() {
	name=$1
	shift
	(cd "$tmp" && "$@" 2>stderr; echo "exit status $?"; cat stderr) >"$tmp/output" 2>&1
	[ -z "${UPDATE-}" ] || cp "$tmp/output" "$golden/$name"
	same "$name: $*" "$golden/$name" "$tmp/output"
}
