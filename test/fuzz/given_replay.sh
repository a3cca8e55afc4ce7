# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ELF files and lists of symbols given for a hardware trace neither crash nor hang ktrace, if they are intact,
# cut off or changed.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
build/test/given-files "$tmp" || exit 1
build/test/asan/given_replay --truncate "$tmp"
