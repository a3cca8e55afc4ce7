# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The trace unit in software (build/lib/ktrace-pt.so): what libipt decodes of its rings is what QEMU's own log of the same run
# says, block by block. And it refuses what it does not understand.
. test/tap.sh
plugin=build/lib/ktrace-pt.so

# boot CPUS ARGUMENTS APPEND: into $tmp/rings and $tmp/log. The firmware, most of what is run, is left out of the log.
boot() {
	rm -f "$tmp/rings" "$tmp/log"
	timeout -k 2 120 $(sh scripts/qemu.sh x86_64 "$1") -d exec,nochain -D "$tmp/log" \
		-dfilter 0x100000..0x5ffffff,0x8000000..0xffffffffffffffff \
		-plugin "$plugin,out=$tmp/rings$2" -append "$3" </dev/null >"$tmp/console" 2>&1
}

# equals "name" CPUS ARGUMENTS APPEND
equals() {
	boot "$2" "$3" "$4"
	check "$1" build/test/plugin_blocks "$tmp/rings" "$tmp/log"
}

equals "one CPU, exact: the same blocks as QEMU's log" 1 ,exact=on run=calls
equals "one CPU, not exact, returns in full, no time: the same blocks" 1 ,exact=off,returns=off,time=off run=calls
equals "page faults, exact: the same blocks" 1 ,exact=on run=fault
equals "four CPUs, exact: the same blocks on each" 4 ,exact=on run=calls

# Whoever kills QEMU: all is there. The log may lack its last lines, so that it is asked only whether the stream can be read.
rm -f "$tmp/rings"
timeout -s KILL 3 $(sh scripts/qemu.sh x86_64 2) -plugin "$plugin,out=$tmp/rings" -append run=forever </dev/null >"$tmp/console" 2>&1
build/test/plugin_blocks "$tmp/rings" /dev/null >"$tmp/killed"
sed 's/^/# /' "$tmp/killed"
check "killed: no error in what two CPUs have left" test "$(grep -c ' errors 0 .* instructions [1-9]' "$tmp/killed")" -eq 2

# refused "name" ARGUMENTS WORDS
refused() {
	timeout -k 2 20 $(sh scripts/qemu.sh x86_64 1) -plugin "$plugin,$2" </dev/null >"$tmp/said" 2>&1
	status=$?
	check "$1: it does not start" test "$status" -ne 0 -a "$status" -ne 124
	check "$1: and says why: $(head -n 1 "$tmp/said")" grep -q -- "$3" "$tmp/said"
}

refused "an unknown argument" "out=$tmp/x,colour=red" 'colour=red: no such argument'
refused "a ring that is no power of two" "out=$tmp/x,size=100000" 'size=100000: wanted is a power of two'
refused "five ranges" "range=1-2,range=1-2,range=1-2,range=1-2,range=1-2" 'at most 4'
refused "a file that cannot be made" "out=$tmp/none/x" 'No such file'
done_testing
