# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Some unit tests run the record path in threads of the host, with a port that needs an x86_64. On other hosts
# they are not built:
# each is reported as skipped here.
. test/tap.sh
unset MAKEFLAGS MAKELEVEL MFLAGS

# absent [VARIABLE=VALUE]: prints the machine type of the host, and the names of the tests that are not built
# for this type.
absent() { make -s "$@" unit-tests-absent; }

# shellcheck disable=SC2046
set -- $(absent)
machine=$1
check "the host's machine is known" test -n "$machine"
shift
for test; do
	skip "$test" "the host must be an x86_64, and is $machine"
done

if [ "$machine" = x86_64 ]; then
	equal "no unit test is left out on an x86_64" 0 $#
fi
absent HOST_MACHINE=other >"$tmp/other"
for test in kernel_stress kernel_step kernel_hooks_stress; do
	check "$test is named where it is left out" grep -qw "$test" "$tmp/other"
done
make -s -n HOST_MACHINE=other test-unit >"$tmp/run" 2>&1
check "other unit tests run on another machine" grep -qw build/test/asan/kernel_hooks "$tmp/run"
check "tests for x86_64 are not run on other machines" sh -c "! grep -qE 'run.sh.*asan/kernel_step' '$tmp/run'"
done_testing
