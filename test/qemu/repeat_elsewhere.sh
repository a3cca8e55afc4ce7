# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A run is repeated on another machine, where its files have different paths: a file is recognized by its
# contents.
. test/tap.sh
. test/qemu/run_support.sh
top=$PWD
ktrace=$top/build/bin/ktrace

# repeat COMMAND…: runs a ktrace command in the directory $tmp/developer. Stores the output in $tmp/output,
# the messages in $tmp/err, the exit status in $status.
repeat() {
	status=0
	(cd "$tmp/developer" && exec timeout -k 5 $kill_limit "$ktrace" "$@") </dev/null >"$tmp/output" 2>"$tmp/err" || status=$?
}

for arch in x86_64 aarch64 riscv64; do
	rm -rf "$tmp/ci" "$tmp/developer"
	mkdir -p "$tmp/ci/build" "$tmp/developer"
	cp build/demo/$arch/kernel.elf "$tmp/ci/build/kernel.elf"
	# shellcheck disable=SC2046
	(cd "$tmp/ci" && "$ktrace" run -q --timeout $limit --seed 7 --deadline 0.1 -o run.ktrx -- \
		$(cd "$top" && KERNEL=build/kernel.elf demo $arch 2) -append "debug=ktrace run=echo" </dev/null >"$tmp/console" 2>"$tmp/err")
	check "$arch: the kernel has the path of this test" grep -qF 'build/kernel.elf' "$tmp/ci/run.ktrx"
	mv "$tmp/ci" "$tmp/developer/artifacts"

	# The kernel's path relative to the directory of the trace is the same as in the recorded run.
	repeat run -q --timeout $limit -o again.ktrx --replay artifacts/run.ktrx
	message_has "$tmp/ci does not exist: the run is repeated in $tmp/developer"
	message_has "$tmp/developer/artifacts/build/kernel.elf is used instead of $tmp/ci/build/kernel.elf: it has the same contents"
	message_has "the same run as artifacts/run.ktrx"
	# The trace of the repeated run contains a recipe for this machine.
	repeat run -q --timeout $limit -o third.ktrx --replay again.ktrx
	message_has "the same run as again.ktrx"
	check "$arch: a trace from this machine needs no search" sh -c '! grep -q "is used instead" "$0"' "$tmp/err"

	# The kernel's file is in the current directory. The output has names of functions.
	mv "$tmp/developer/artifacts/build/kernel.elf" "$tmp/developer/"
	repeat retrace --functions --only schedule artifacts/run.ktrx
	equal "$arch: retrace: status" 0 "$status"
	message_has "$tmp/developer/kernel.elf is used instead of"
	check "$arch: retrace names functions" grep -q ' schedule (demo/kern/sched.c' "$tmp/output"
	repeat goto --at 0.01 artifacts/run.ktrx
	equal "$arch: goto: status" 0 "$status"
	check "$arch: goto names functions" grep -q '^  0x[0-9a-f]* [a-z_]*+0x.*\.[cS]:[0-9]*)$' "$tmp/output"
done

# ktrace does not use a file with the same name but different contents.
echo >>"$tmp/developer/kernel.elf"
repeat run -q -o again.ktrx --replay artifacts/run.ktrx
equal "other contents: status" 1 "$status"
message_has "$tmp/ci/build/kernel.elf: cannot be read, but the run needs this file"
check "other contents: no file is taken" sh -c '! grep -q "is used instead" "$0"' "$tmp/err"
rm "$tmp/developer/kernel.elf"
repeat goto --at 0.01 artifacts/run.ktrx
equal "no file: status" 1 "$status"
message_has "put a copy into the directory of the trace or into the current directory"
done_testing
