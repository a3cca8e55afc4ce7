# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace take: files out of what a guest's console said, whole or damaged, and with names that lead elsewhere.
. test/tap.sh
take="$PWD/build/bin/ktrace take"
mkdir "$tmp/out"

# took "name" STATUS [OPTION…]: what is taken of $tmp/log.
took() {
	took_name=$1 took_status=$2
	shift 2
	status=0
	$take "$@" "$tmp/log" >"$tmp/stdout" 2>"$tmp/said" || status=$?
	equal "$took_name" "$took_status" "$status"
}

printf 'boot\r\n$ ktrace-file hello\r\n~aGVs\r\nnoise ~AAAA\r\n~bG8=\r\nktrace-file-end 5 4f9f2cab\r\n$ \r\n' >"$tmp/log"
took "a file between lines of others" 0 -d "$tmp/out"
equal "is what it was" hello "$(cat "$tmp/out/hello")"
equal "and for its owner alone" 600 "$(stat -c %a "$tmp/out/hello")"
took "to standard output" 0 -o -
equal "the same" hello "$(cat "$tmp/stdout")"

printf 'ktrace-file ../../e/t%%c/.x\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\nktrace-file \nktrace-file-end 0 811c9dc5\n' >"$tmp/log"
took "names that lead elsewhere" 0 -d "$tmp/out"
check "lead nowhere" test -f "$tmp/out/_._.._e_t_c_.x"
ln -s "$tmp/elsewhere" "$tmp/out/link"
printf 'ktrace-file link\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "nor does a link that is there already" 1 -d "$tmp/out"
check "nothing is written through it" test ! -e "$tmp/elsewhere"

printf 'ktrace-file hello\n~aGVs\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "a line is missing" 1 -d "$tmp/out"
check "which is said" grep -q 'line 3: .*/hello: lines of it are damaged or missing, after 3 bytes' "$tmp/said"
printf 'ktrace-file hello\n~aGVsbG8=\nktrace-file-end 5 4f9f2caa\n' >"$tmp/log"
took "a byte is another" 1 -d "$tmp/out"
printf 'ktrace-file hello\n~aG?sbG8=\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "a letter is none" 1 -d "$tmp/out"
printf 'ktrace-file hello\n~aGVsbG8=\nktrace-file-end five\n' >"$tmp/log"
took "an end that says nothing" 1 -d "$tmp/out"
printf 'ktrace-file hello\n~aGVsbG8=\n' >"$tmp/log"
took "no end" 1 -d "$tmp/out"
check "which is said" grep -q 'the log ends before it does' "$tmp/said"
printf 'ktrace-file one\n~aGVsbG8=\nktrace-file two\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "another begins before the end" 1 -d "$tmp/out"
equal "which is whole" hello "$(cat "$tmp/out/two")"
printf 'ktrace-file one\nktrace-file-end 0 811c9dc5\nktrace-file two\nktrace-file-end 0 811c9dc5\n' >"$tmp/log"
took "two files for one" 1 -o "$tmp/out/one"
head -c 5000 /dev/zero | tr '\0' 'x' >"$tmp/log"
printf '\nktrace-file hello\n~' >>"$tmp/log"
head -c 5000 /dev/zero >>"$tmp/log"
took "lines longer than any" 1 -d "$tmp/out"
: >"$tmp/log"
took "a log without a file" 1 -d "$tmp/out"
check "which is said" grep -q 'no file was handed out there' "$tmp/said"
took "a folder that does not exist" 1 -d "$tmp/none"
$take "$tmp/no-log" 2>/dev/null
equal "a log that does not exist" 1 $?
$take -x 2>/dev/null
equal "an option that does not exist" 2 $?
check "help" sh -c "$take --help | grep -q '^usage: ktrace take'"
done_testing
