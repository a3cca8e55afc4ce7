# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The process traces in test/golden/proc are those that their generator writes, which shares no code with the
# reader. UPDATE=1 in the environment writes them anew.
. test/tap.sh

golden=test/golden/proc
mkdir "$tmp/bad"
check "the generator writes the traces" build/test/proc-traces "$tmp" "$tmp/bad"
[ -z "${UPDATE-}" ] || { mkdir -p "$golden/bad" && cp "$tmp"/*.ktrace "$golden" && cp "$tmp"/bad/*.ktrace "$golden/bad"; }
for trace in "$tmp"/*.ktrace "$tmp"/bad/*.ktrace; do
	name=${trace#"$tmp/"}
	check "$name is unchanged" cmp "$golden/$name" "$trace"
done
equal "test/golden/proc has no other traces" "$(cd "$tmp" && ls -- *.ktrace bad/*.ktrace)" "$(cd "$golden" && ls -- *.ktrace bad/*.ktrace)"
done_testing
