#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures `ktrace open` on 67 M events, and the pages that `ktrace html` writes for traces of 1 M and 5 M
# events, in headless Chromium. Prints a table on standard error and JSON on standard output. Needs 3 GB in
# TMPDIR. A short run makes a page of a small trace, and starts no browser. Most limits are limits of elapsed
# time. A busy machine exceeds them, so the exit status does not depend on limits.
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
ktrace=build/bin/ktrace packages=build/test/viewer
chromium=$(command -v chromium)
short=${BENCH_SHORT:+yes}

# row NAME VALUE LIMIT UNIT: prints a measured value. LIMIT is "-" if the value has no limit.
row() {
	limit=$3 verdict=
	case $limit in
	-) limit=null ;;
	*) verdict=$(awk -v a="$2" -v b="$3" 'BEGIN { print a <= b ? "held" : "exceeded" }') ;;
	esac
	echo "{\"bench\": \"open\", \"case\": \"$1\", \"value\": $2, \"limit\": $limit, \"unit\": \"$4\"}"
	printf '%-52s %9s %-3s %9s  %s\n' "$1" "$2" "$4" "$3" "$verdict" >&2
}

now() { date +%s%N; }

# since BEGIN: prints the time since BEGIN in ms.
since() { echo $((($(now) - $1) / 1000000)); }

# figure NAME: prints the measured value NAME of the last browse().
figure() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/figures"; }

browse() {
	HOME=$tmp node bench/open.mjs "$packages" "$chromium" "$1" >"$tmp/figures" 2>"$tmp/err" || {
		cat "$tmp/err" >&2
		exit 1
	}
}

# megabytes FILE: prints the file's size in MB.
megabytes() { wc -c <"$1" | awk '{ printf "%.1f", $1 / 1e6 }'; }

make_page() {
	build/bench/decode/gen_v1 "$tmp/$1.ktrx" "$1" && "$ktrace" html "$tmp/$1.ktrx" -o "$tmp/$1.html" 2>"$tmp/err" && return
	cat "$tmp/err" >&2
	exit 1
}

if [ -n "$short" ]; then
	make_page 8192
	row "size of the page of 8192 events" "$(megabytes "$tmp/8192.html")" - MB
	exit 0
fi
[ -n "$chromium" ] && [ -d $packages/node_modules/playwright-core ] || {
	echo "open: not measured: chromium is not installed, or 'make viewer-browser' was not run" >&2
	exit 0
}
printf '%-52s %13s %9s\n' "" measured limit >&2

events=67108864
build/bench/decode/gen_v1 "$tmp/long.ktrx" $events || exit 1
"$ktrace" summary "$tmp/long.ktrx" >/dev/null # reads the file into the memory of the kernel
begin=$(now)
"$ktrace" summary "$tmp/long.ktrx" >/dev/null
summary=$(since "$begin")
begin=$(now)
"$ktrace" open --no-browser "$tmp/long.ktrx" 2>"$tmp/address" &
server=$!
while ! grep -q http "$tmp/address"; do
	kill -0 $server 2>/dev/null || {
		cat "$tmp/address" >&2
		exit 1
	}
	sleep 0.01
done
address=$(sed -n 's/.*\(http[^ ]*\).*/\1/p' "$tmp/address")
curl -sf "${address}head" >/dev/null || exit 1
first=$(since "$begin")
row "67 M events: ktrace summary" "$summary" - ms
row "first pass, until the page can be opened" "$first" $((summary * 3 / 2)) ms
browse "$address"
row "from opening the page until it is usable" "$(figure usable)" 1000 ms
row "a frame while zooming and panning" "$(figure frame)" 16.7 ms
row "server's answer to a zoom to $(figure window) events" "$(figure answer)" 30 ms
row "until this answer is drawn" "$(figure shown)" - ms
row "memory of the script" "$(figure memory)" 200 MB
row "from opening the page until the verdict of why" "$(figure verdict)" - ms
kill $server
wait $server 2>/dev/null
server=
rm "$tmp/long.ktrx"

make_page 1000000
row "1 M events: size of the page" "$(megabytes "$tmp/1000000.html")" 15 MB
browse "$tmp/1000000.html"
row "from opening the page until it is usable" "$(figure usable)" 3000 ms
row "a frame while zooming and panning" "$(figure frame)" - ms
row "memory of the script" "$(figure memory)" - MB

make_page 5000000
row "5 M events: size of the page" "$(megabytes "$tmp/5000000.html")" - MB
browse "$tmp/5000000.html"
row "from opening the page until it is usable" "$(figure usable)" - ms
row "a frame while zooming and panning" "$(figure frame)" - ms
row "memory of the script" "$(figure memory)" - MB
