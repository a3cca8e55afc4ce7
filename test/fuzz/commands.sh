# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sourced, after test/tap.sh, which sets $tmp, by tests of commands over damaged traces.

commands=$PWD/build/test/asan/commands
mutate=$PWD/build/test/cmd-mutate

# damage COUNT TRACE…: writes COUNT damaged copies of each trace to a directory damaged-TRACE.
damage() {
	copies=$1
	shift
	for trace; do
		mkdir "damaged-$trace" && "$mutate" "$trace" "$copies" "damaged-$trace" || exit 1
	done
}
