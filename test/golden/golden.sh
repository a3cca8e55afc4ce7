# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sourced after test/tap.sh by tests that hold what commands say against files, word for word: $golden/NAME. To take
# over changes that are meant, run such a test with UPDATE=1 and look at the difference.
PATH=$PWD/build/bin:$PATH

# golden NAME COMMAND…: run where the traces lie; standard output and then what was said on standard error.
golden() {
	name=$1
	shift
	(cd "$tmp" && "$@" 2>stderr; echo "exit status $?"; cat stderr) >"$tmp/said" 2>&1
	[ -z "${UPDATE-}" ] || cp "$tmp/said" "$golden/$name"
	same "$name: $*" "$golden/$name" "$tmp/said"
}
