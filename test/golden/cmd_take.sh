# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace take: files from a guest's console, complete or damaged, with hostile names, and in directories with
# files that must not be replaced.
. test/tap.sh
take="$PWD/build/bin/ktrace take"
mkdir "$tmp/out"

# took "name" STATUS [OPTION…]: runs `ktrace take` on $tmp/log and checks the exit status.
took() {
	took_name=$1 took_status=$2
	shift 2
	status=0
	$take "$@" "$tmp/log" >"$tmp/stdout" 2>"$tmp/messages" || status=$?
	equal "$took_name" "$took_status" "$status"
}

printf 'boot\r\n$ ktrace-file hello\r\n~aGVs\r\nnoise ~AAAA\r\n~bG8=\r\nktrace-file-end 5 4f9f2cab\r\n$ \r\n' >"$tmp/log"
took "a file between lines of others" 0 -d "$tmp/out"
equal "the file has its contents" hello "$(cat "$tmp/out/hello")"
equal "the file is readable only by its owner" 600 "$(stat -c %a "$tmp/out/hello")"
took "into the same directory again" 1 -d "$tmp/out"
check "a file that exists is not replaced" grep -q '/hello: exists (--force replaces it)' "$tmp/messages"
echo other >"$tmp/out/hello"
took "with --force" 0 --force -d "$tmp/out"
equal "the existing file is replaced" hello "$(cat "$tmp/out/hello")"
took "to standard output" 0 -o -
equal "the file is printed" hello "$(cat "$tmp/stdout")"

printf 'noise\0\nktrace-file nul\r\n\0~aGVs\n\0\n~bG8=\nktrace-file-end 5 4f9f2cab\r\n' >"$tmp/log"
took "NUL bytes in the log" 0 -d "$tmp/out"
equal "a file between NUL bytes is complete" hello "$(cat "$tmp/out/nul")"

printf 'ktrace-file ../../e/t%%c/.x\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\nktrace-file \nktrace-file-end 0 811c9dc5\n' >"$tmp/log"
took "names with slashes, and an empty name" 0 -d "$tmp/out"
check "names with slashes stay in the directory" test -f "$tmp/out/_._.._e_t_c_.x"
ln -s "$tmp/elsewhere" "$tmp/out/link"
printf 'ktrace-file link\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "a name that is a link in the directory" 1 -d "$tmp/out"
check "nothing is written through a link" test ! -e "$tmp/elsewhere"
took "the same with --force" 1 --force -d "$tmp/out"
check "nothing is written through a link with --force" test ! -e "$tmp/elsewhere"

printf 'ktrace-file hello\n~aGVs\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "a line is missing" 1 -d "$tmp/out"
check "the damage is reported" grep -q "line 3: file 'hello': damaged, or lines are missing, after 3 bytes" "$tmp/messages"
equal "the complete file with that name is still there" hello "$(cat "$tmp/out/hello")"
took "the same, to standard output" 1 -o -
check "nothing of a damaged file is printed" test ! -s "$tmp/stdout"
took "the same, with --partial" 1 --partial -d "$tmp/out"
equal "the readable part is stored with --partial" hel "$(cat "$tmp/out/hello.partial")"
equal "the complete file is still next to it" hello "$(cat "$tmp/out/hello")"
$take -o - <"$tmp/log" >"$tmp/stdout" 2>"$tmp/messages"
check "the damage in standard input is reported with its place" grep -q "take: stdin: line 3: file 'hello': damaged" "$tmp/messages"
check "the damage in a file is reported with its name" sh -c "$take -o - '$tmp/log' 2>&1 | grep -q 'log: line 3: file .hello.: damaged'"
printf 'ktrace-file hello\n~aGVsbG8=\nktrace-file-end 5 4f9f2caa\n' >"$tmp/log"
took "a wrong checksum" 1 -d "$tmp/out"
printf 'ktrace-file hello\n~aG?sbG8=\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "an invalid letter" 1 -d "$tmp/out"
printf 'ktrace-file hello\n~aGVsbG8=\nktrace-file-end five\n' >"$tmp/log"
took "an invalid last line" 1 -d "$tmp/out"
for last in '5 14f9f2cab' '5 4f9f2cabx' '5 4f9f2cab 6' '5 -b060d355'; do
	printf 'ktrace-file hello\n~aGVsbG8=\nktrace-file-end %s\n' "$last" >"$tmp/log"
	took "an invalid last line: $last" 1 -o -
done
printf 'ktrace-file hello\n~aGVsbG8=\n' >"$tmp/log"
took "a missing last line" 1 -d "$tmp/out"
check "the missing end is reported" grep -q 'the log ends inside this file' "$tmp/messages"
printf 'ktrace-file one\n~aGVsbG8=\nktrace-file two\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\n' >"$tmp/log"
took "another file begins before the end" 1 -d "$tmp/out"
check "the unfinished file is not written" test ! -e "$tmp/out/one"
equal "the next file is complete" hello "$(cat "$tmp/out/two")"
printf 'ktrace-file one\nktrace-file-end 0 811c9dc5\nktrace-file two\nktrace-file-end 0 811c9dc5\n' >"$tmp/log"
took "two files, but --out names one" 1 -o "$tmp/out/one"
head -c 5000 /dev/zero | tr '\0' 'x' >"$tmp/log"
printf '\nktrace-file hello\n~' >>"$tmp/log"
head -c 5000 /dev/zero >>"$tmp/log"
took "lines longer than any valid line" 1 -d "$tmp/out"
: >"$tmp/log"
took "a log without a file" 1 -d "$tmp/out"
check "the empty log is reported" grep -q 'no file found' "$tmp/messages"
took "a directory that does not exist" 1 -d "$tmp/none"
$take -o - <&- >"$tmp/stdout" 2>"$tmp/messages"
equal "a closed standard input" "1 ktrace take: stdin: Bad file descriptor" "$? $(cat "$tmp/messages")"
# ---- Files in a new directory ------------------------------------------------------------------------
# file_of NAME CONTENTS: prints a file in the form in which the guest's program `give` sends it.
file_of() {
	printf 'ktrace-file %s\n~%s\n' "$1" "$(printf '%s' "$2" | base64 -w 0)"
	printf '%s' "$2" | od -An -v -tu1 -w1 | awk '
		function exclusive(a, b, n, bit, value) {
			for (bit = 1; n < 8; n++) { if (int(a / bit) % 2 != int(b / bit) % 2) value += bit; bit *= 2 }
			return a - a % 256 + value
		}
		function times(a, low) { # a * 16777619 modulo 2^32, in parts that a double holds
			low = a % 65536
			return (low * 16777619 + (a - low) / 65536 * 403 % 65536 * 65536) % 4294967296
		}
		BEGIN { value = 2166136261 }
		{ value = times(exclusive(value, $1)) }
		END { printf "ktrace-file-end %d %x%04x\n", NR, int(value / 65536), value % 65536 }'
}
# A hostile log uses names of files that are already in the working directory: the log itself, a makefile,
# a FIFO, a link.
mkdir "$tmp/work"
cd "$tmp/work" || exit 1
long=$(head -c 300 /dev/zero | tr '\0' 'n')
bidi=$(printf 'a\342\200\256gpj.sh\033[31m')
{
	echo boot
	for name in Makefile console.log -rf .bashrc .. fifo link ../../up "$long" "$bidi" hello hello; do
		file_of "$name" "of $name"
	done
	echo 'the panic'
} >console.log
cp console.log before
echo 'all:' >Makefile
mkfifo fifo
ln -s "$tmp/elsewhere" link
ls -A >"$tmp/names"
status=0
printed=$(timeout $kill_limit $take console.log 2>"$tmp/messages") || status=$?
equal "a hostile log: $(grep -v ' bytes$' "$tmp/messages")" 0 "$status"
equal "files go into a new directory, whose name is printed" ./console.log.files "$printed"
check "the log is unchanged" cmp -s console.log before
equal "the makefile is unchanged" all: "$(cat Makefile)"
ls -A | grep -vx console.log.files >"$tmp/after"
same "nothing else is in the working directory" "$tmp/names" "$tmp/after"
{
	printf '%s\n' Makefile _. _._.._up _bashrc _rf console.log fifo hello hello.2 link a___gpj.sh__31m
	printf '%.64s\n' "$long"
} | LC_ALL=C sort >"$tmp/wanted"
ls -A console.log.files | LC_ALL=C sort >"$tmp/found"
same "unsafe names are changed" "$tmp/wanted" "$tmp/found"
equal "a second file with the same name gets a number" "of hello" "$(cat console.log.files/hello.2)"
equal "the files have the guest's contents" "of -rf" "$(cat console.log.files/_rf)"
check "messages contain no control characters" sh -c "! LC_ALL=C grep -q '[^ -~]' '$tmp/messages'"
equal "a second run creates another directory" ./console.log.files.2 "$(timeout $kill_limit $take console.log 2>/dev/null)"
equal "files from standard input go into a directory" ./console.files "$(timeout $kill_limit $take <console.log 2>/dev/null)"
echo boot >empty
equal "without a file no directory is printed" "" "$($take empty 2>/dev/null)"
check "no directory is left" test ! -e empty.files
printf 'ktrace-file x\n~aGVs\n' >half
$take half >/dev/null 2>&1
check "no directory is left for a file that was cut off" test ! -e half.files

timeout $kill_limit $take --force -d . console.log >/dev/null 2>"$tmp/messages"
equal "--force into the working directory: status" 1 $?
check "the log is not replaced" grep -q 'console.log: is the log itself' "$tmp/messages"
check "the log is still unchanged" cmp -s console.log before
check "the FIFO is not replaced" test -p fifo
check "the link is not replaced" test -L link
timeout $kill_limit $take --force -o console.log console.log 2>/dev/null
check "--out does not replace the log" cmp -s console.log before
printf 'ktrace-file x\n~aGVsbG8=\nktrace-file-end 5 4f9f2cab\n' >one
timeout $kill_limit $take --force -o console.log <one 2>/dev/null
equal "another file is replaced by --out with --force" hello "$(cat console.log)"
for force in '' --force; do
	timeout $kill_limit $take $force -o fifo one 2>"$tmp/messages"
	equal "a FIFO as --out is refused${force:+ with $force}" 1 $?
	check "a FIFO as --out${force:+ with $force}: the message has the reason" grep -q 'fifo: exists and is not a regular file' "$tmp/messages"
done
timeout $kill_limit $take fifo 2>"$tmp/messages"
equal "a FIFO as the log is refused" 1 $?
check "a FIFO as the log: the message has the reason" grep -q 'fifo: not a regular file; pass it as standard input' "$tmp/messages"
timeout $kill_limit $take /dev/zero 2>"$tmp/messages"
equal "a device as the log: status" 1 $?
equal "a pipe on standard input is read" hello "$(cat one | timeout $kill_limit $take -o - -)"
for n in $(seq 1001); do printf 'ktrace-file %d\nktrace-file-end 0 811c9dc5\n' "$n"; done >many
timeout $kill_limit $take many >/dev/null 2>"$tmp/messages"
equal "more than 1000 files are refused" 1 $?
check "more than 1000 files: the message has the reason" grep -q 'line 2001: more than 1000 files' "$tmp/messages"
check "no temporary file is left" test -z "$(find . -name '.ktrace-take*')"

$take "$tmp/no-log" 2>/dev/null
equal "a log that does not exist" 1 $?
$take -x 2>/dev/null
equal "an option that does not exist" 2 $?
$take -d "$tmp/out" -o "$tmp/x" "$tmp/log" 2>/dev/null
equal "--dir and --out cannot be used together" 2 $?
check "take --help prints the usage" sh -c "$take --help | grep -q '^usage: ktrace take'"
done_testing
