# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Traces that earlier versions wrote can be read, and have the same content. doc/compatibility.md has the
# rules.
#
# For each folder VERSION of traces, two kinds of files are compared. VERSION/facts contains what VERSION
# itself read in the traces (facts.sh); it is never updated. VERSION/expected/ contains what commands print
# for people; after an intended change of texts, UPDATE=1 updates it.
. test/tap.sh
. test/golden/golden.sh
export TZ=UTC0 # the time zone for kdump

corpus=$PWD/test/corpus
# All columns except the offset, which states how far libipt has read: this depends on libipt's version. So
# does the time of a branch whose packet has another time than the packet before it.
columns=id,image,symbol,pc,event_type,event_payload
for folder in "$corpus"/*/; do
	version=$(basename "$folder")
	golden=$folder/expected
	rm -rf "$tmp/traces" && mkdir "$tmp/traces"
	for trace in "$folder"/*.zst; do
		zstd -q -d --sparse "$trace" -o "$tmp/traces/$(basename "$trace" .zst)" || exit 1
	done
	mv "$tmp/traces/facts" "$tmp/was"
	(cd "$tmp/traces" && sh "$corpus/facts.sh") >"$tmp/is"
	for trace in $(cut -d ' ' -f 1 "$tmp/was" | uniq); do
		awk -v trace="$trace" '$1 == trace' "$tmp/was" >"$tmp/was.one"
		awk -v trace="$trace" '$1 == trace' "$tmp/is" >"$tmp/is.one"
		check "$version: $trace: its $(wc -l <"$tmp/was.one") facts are unchanged" awk -f "$corpus/same_facts.awk" "$tmp/was.one" "$tmp/is.one"
	done
	mv "$tmp"/traces/* "$tmp"

	cd "$tmp" && set -- *.ktrx *.kts *.v1 *.ram && cd "$OLDPWD" || exit 1
	for trace; do
		golden "$trace-summary" ktrace summary "$trace"
		golden "$trace-why" sh -c 'ktrace why --json "$0" | grep -o "\"verdict\":\"[^\"]*\""' "$trace"
		golden "$trace-show" ktrace show --limit 40 "$trace"
		check "$version: $trace: show prints the same for the compressed trace" sh -c \
			'ktrace show "$1" >"$2/plain" 2>/dev/null; ktrace show "$3" 2>/dev/null | cmp - "$2/plain" && test -s "$2/plain"' \
			- "$tmp/$trace" "$tmp" "$folder/$trace.zst"
	done
	cd "$tmp" && set -- *.ram && cd "$OLDPWD" || exit 1
	for ram; do
		(cd "$tmp" && ktrace extract --previous -o previous "$ram") 2>/dev/null
		golden "$ram-previous" ktrace summary previous
	done
	cd "$tmp" && set -- *.ktrace && cd "$OLDPWD" || exit 1
	for trace; do
		golden "$trace-kdump" kdump -T -f "$trace"
		golden "$trace-oneline" kdump --oneline -f "$trace"
	done
	cd "$tmp" && set -- *.branches && cd "$OLDPWD" || exit 1
	for trace; do
		golden "$trace-functions" hwt --elf "${trace%.branches}.elf" --functions "$trace"
		golden "$trace-last" hwt -o "$columns" --elf "${trace%.branches}.elf" --last 12 --before panic "$trace"
		golden "$trace-calls" sh -c 'ktrace hwt --elf "$0" --calls --last 60 --before panic "$1" | sed "/^\[/s/.\{35\}//"' \
			"${trace%.branches}.elf" "$trace"
	done
done
done_testing
