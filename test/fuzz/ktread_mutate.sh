# SPDX-License-Identifier: MIT Runs the test of ktread_replay.sh with copies in which each bit is changed
# once.
exec env ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1 \
	build/test/asan/ktread_replay --mutate test/golden/ktread test/golden/bad
