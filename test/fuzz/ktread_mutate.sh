# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs the test of ktread_replay.sh with copies of each input: truncated at every length, or with one bit
# changed.
exec env ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1 \
	build/test/asan/ktread_replay --mutate test/golden/ktread test/golden/bad
