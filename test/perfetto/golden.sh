# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Each trace in test/golden/perfetto, exported and read back, is what its .txt says. After a change that is meant:
#	build/bin/ktrace export --format perfetto X.ktrx -o /tmp/x && build/test/perfetto-text /tmp/x >X.txt
. test/tap.sh

for trace in test/golden/perfetto/*.ktrx; do
	name=$(basename "$trace" .ktrx)
	check "$name is exported" build/bin/ktrace export --format perfetto "$trace" -o "$tmp/$name"
	build/test/perfetto-text "$tmp/$name" >"$tmp/$name.txt" || echo "not readable" >>"$tmp/$name.txt"
	same "$name reads back as expected" "${trace%.ktrx}.txt" "$tmp/$name.txt"
done

done_testing
