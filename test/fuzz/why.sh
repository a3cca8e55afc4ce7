# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace why neither crashes nor hangs, and keeps to its limits of time and memory, over COUNT damaged copies
# of traces. No duration in its report is longer than the trace shows (test/unit/support/why_property.h).
. test/tap.sh

count=${COUNT:-40}
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
build/test/why-traces "$tmp" >/dev/null 2>&1 || exit 1
for trace in "$tmp"/*.ktrx; do
	story=$(basename "$trace" .ktrx)
	mkdir "$tmp/$story"
	build/test/cmd-mutate "$trace" "$count" "$tmp/$story" || exit 1
	check "$story: no reported time begins before the first known fact" env WHY_WORDS=1 build/test/asan/why_replay "$trace"
	check "$story, $count damaged copies" build/test/asan/why_replay "$trace" "$tmp/$story"
done
check "why survives files that are not traces of its kind" build/test/asan/why_replay test/golden/bad test/golden/ktread
done_testing
