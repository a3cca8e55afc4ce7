# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The test of ktread_replay.sh, with every bit changed.
exec env ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1 \
	build/test/asan/ktread_replay --mutate test/golden/ktread test/golden/bad
