# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Without a file, `ktrace open` shows the trace of this directory, then the guest that runs elsewhere, and lists the guests if
# there are several. Guests are shells with QEMU's arguments, in a namespace without other processes.
. test/tap.sh

if ! unshare -r -p -f --mount-proc true 2>/dev/null; then
	skip "ktrace open without a file" "no namespace of processes can be made"
	done_testing
	exit
fi
build/test/ktrdump-traces "$tmp" >"$tmp/log" 2>&1 && build/test/cmd-traces "$tmp" >"$tmp/log" 2>&1 || exit 1
mkdir "$tmp/empty" "$tmp/a" "$tmp/b" "$tmp/full" && cp "$tmp/ktr.ram" "$tmp/a/1,1.ram" && cp "$tmp/ktr.ram" "$tmp/b" &&
	cp "$tmp/v2.ktrx" "$tmp/full/ktrace.ktrx" || exit 1
esc=$(printf '\033')
cp "$tmp/ktr.ram" "$tmp/b/esc${esc}[31m.ram"

cat >"$tmp/inside.sh" <<'END'
# guest FILE: starts a process that looks like a QEMU with this file.
guest() {
	sh -c 'while sleep 1; do :; done' qemu -object "memory-backend-file,id=m,mem-path=$1,share=on" -kernel k.elf &
}
# opened NAME DIRECTORY WORD…: runs ktrace open in the directory until it prints an address or ends.
opened() {
	name=$1
	cd "$tmp/$2" || exit 1
	shift 2
	"$ktrace" open --no-browser "$@" >"$tmp/$name" 2>&1 &
	server=$!
	while kill -0 $server 2>/dev/null && ! grep -q http: "$tmp/$name"; do sleep 0.1; done
	kill -INT $server 2>/dev/null
	wait $server
	echo "status $?" >>"$tmp/$name"
}
opened none empty
guest "$tmp/a/1,,1.ram"
until "$ktrace" live --list | grep -q ram; do sleep 0.1; done
opened one empty
opened file full
guest "$tmp/b/ktr.ram"
guest "$tmp/b/esc$esc[31m.ram"
until [ "$("$ktrace" live --list | wc -l)" -eq 3 ]; do sleep 0.1; done
opened several empty
opened given empty "$tmp/b/ktr.ram"
opened here full
END
timeout -k 5 $kill_limit env tmp="$tmp" esc="$esc" ktrace="$PWD/build/bin/ktrace" \
	unshare -r -p -f --mount-proc --kill-child sh "$tmp/inside.sh" </dev/null >"$tmp/log" 2>&1 || cat "$tmp/log"
check "no guest: a file is needed" grep -q 'no file given, and this directory contains no ktrace.ktrx' "$tmp/none"
check "a guest elsewhere is shown" grep -q 'http://' "$tmp/one"
check "and named" grep -q "this directory has no trace: showing the guest of $tmp/a/1,1.ram" "$tmp/one"
check "its server ends with status 0" grep -q '^status 0' "$tmp/one"
check "a trace in this directory comes first" grep -q '^status 0' "$tmp/file"
check "without a message about guests" sh -c '! grep -q guest "$0"' "$tmp/file"
check "several guests: status 2" grep -q '^status 2' "$tmp/several"
for path in a/1,1.ram b/ktr.ram 'b/esc\\x1b\[31m.ram'; do
	check "several guests: $path is listed" grep -q "^  $tmp/$path	[0-9]*	k.elf" "$tmp/several"
done
check "several guests: no control characters" sh -c '! LC_ALL=C grep -q "$1" "$0"' "$tmp/several" "$esc"
check "several guests: a file chooses one" grep -q '^status 0' "$tmp/given"
check "several guests: a trace in this directory comes first" grep -q '^status 0' "$tmp/here"
done_testing
