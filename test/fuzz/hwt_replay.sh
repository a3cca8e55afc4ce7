# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Reading hardware trace neither crashes nor hangs nor takes more than its share over bad input: garbage, and files and streams
# that are cut off, changed, and spliced.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
build/test/hwt-traces "$tmp" || exit 1
build/test/asan/hwt_replay --truncate "$tmp"
