# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader of hardware trace neither crashes nor hangs, and keeps to its limits of time and memory, over bad
# input: random bytes, and files and streams that are cut off, changed, or spliced.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
build/test/hwt-traces "$tmp" || exit 1
build/test/asan/hwt_replay --truncate "$tmp"
