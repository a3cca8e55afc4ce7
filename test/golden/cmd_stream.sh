# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Every command prints the same for a portable stream as for the trace that it was made from; this is also
# true if the zstd tool compressed the stream.
. test/tap.sh

PATH=$PWD/build/bin:$PATH
mkdir "$tmp/dump" "$tmp/stream"
build/test/cmd-traces "$tmp/dump" || exit 1
cd "$tmp" || exit 1

# without_file: removes the number of dumps in the file, and the offset of the dump. A stream contains only
# one dump, so its output has different numbers there.
without_file() {
	sed '/^dumps  /d; s/"dumps":[0-9]*,"offset":[0-9]*,//'
}

# alike "name" COMMAND…: runs the command once in the directory of the dump and once in the directory of the
# stream, and compares the two outputs. The dump and the stream have the same file name.
alike() {
	name=$1
	shift
	(cd dump && "$@" 2>&1; echo "exit status $?") | without_file >dump.output
	(cd stream && "$@" 2>&1; echo "exit status $?") | without_file >stream.output
	same "$name: $*" dump.output stream.output
}

for trace in v1.bin v2.ktrx hostile.ktrx lowclock.bin; do
	ktrace export --format stream "dump/$trace" -o "stream/$trace" 2>messages
	equal "$trace becomes a stream" 0 $?
	check "$trace: the export is reported" grep -q 'events written to stream/' messages
	for command in 'show' 'show --json' 'show --hex' 'show --cpu 1' 'show --since 30us --until 230us' summary \
		'summary --json' stats 'stats --json' 'export --format json -o -' 'export --format perfetto -o -' \
		'export --format fxt -o -' 'export --format folded -o -' \
		'export --format speedscope -o -'; do
		alike "$trace" ktrace $command "$trace"
	done
	alike "$trace" sh -c 'rm -rf out; ktrace export --format ctf -o out "$1" && cat out/*' - "$trace"
	alike "$trace" sh -c 'rm -rf out; ktrace export --format parquet -o out "$1" && cat out/*/*/*' - "$trace"
	for command in --timeline --summary '--timeline --pid 12'; do
		alike "$trace" ktrace-decode $command "$trace"
	done
	alike "$trace" ktrdump -a -M "$trace"
done
alike 'a choice of events' ktrace show --event syscall,SCHED.switch v2.ktrx
alike 'a choice of events' ktrace show --event 'net,page_*,999' v1.bin

ktrace export --format stream --frequency 1000000 dump/lowclock.bin -o given.kts 2>/dev/null
ktrace show --frequency 1000000 dump/lowclock.bin >dump.output
ktrace show given.kts >stream.output
same 'the stream contains the frequency' dump.output stream.output
ktrace export --format stream --v1-layout spec dump/v1.bin -o spec.kts 2>/dev/null
ktrace show --v1-layout spec dump/v1.bin >dump.output 2>/dev/null
ktrace show spec.kts >stream.output 2>/dev/null
same 'the stream contains the layout' dump.output stream.output

awk 'BEGIN { for (n = 0; n < 400; n++) printf "%032d", n }' >records
ktrace show --form bare --frequency 1000 --cpu 0-7 records >dump.output 2>/dev/null
ktrace export --format stream --form bare --frequency 1000 records -o records.kts 2>/dev/null
ktrace show --cpu 0-7 records.kts >stream.output 2>/dev/null
same 'a stream of bare records is shown as the records are' dump.output stream.output
check 'bare records are shown' test -s stream.output

ktrace show dump/v2.ktrx >dump.output
ktrace export --format stream dump/v2.ktrx -o - 2>/dev/null | ktrace show /dev/stdin >stream.output
same 'a stream can be read from a pipe' dump.output stream.output
ktrace show --form stream stream/v2.ktrx >stream.output
same 'show --form stream shows the stream' dump.output stream.output

# reports STATUS "part of the message" COMMAND…: checks exit status and message of a command.
reports() {
	expected=$1 message=$2
	shift 2
	"$@" >stdout 2>stderr
	status=$?
	if [ "$status" -eq "$expected" ] && grep -qF -e "$message" stderr; then
		pass "$*: $expected, $message"
	else
		fail "$*: $expected, $message" "exit status $status: $(cat stderr)"
	fi
}

reports 1 'not a stream' ktrace show --form stream dump/v1.bin
for option in '--pid 1' '--cpu 0' '--event sched' '--since 0' '--until 1' '--with dump/v2.ktrx' '--machine x86_64' --raw-clock --align \
	'--calls linux'; do
	# shellcheck disable=SC2086
	reports 2 "${option%% *}: a stream contains the whole trace" ktrace export --format stream $option dump/v2.ktrx -o cpu0.kts
done
check 'a refused export writes no file' test ! -e cpu0.kts
reports 1 'No space left' ktrace export --format stream dump/v2.ktrx -o /dev/full
head -c 900 stream/v2.ktrx >cut.kts
reports 0 'cut short' ktrace show cut.kts
reports 1 'within its head' ktrace show /dev/stdin <<-END
	$(printf '\211KTS\r\n\032')
END

if command -v zstd >/dev/null; then
	zstd -q dump/v2.ktrx -o packed.zst
	reports 0 'compressed with zstd: unpacked into a temporary file' ktrace show packed.zst
	same 'a trace compressed with zstd is shown as the trace is' dump.output stdout
	zstd -q stream/v2.ktrx -o twice.zst
	reports 0 'unpacked into a temporary file' ktrace show twice.zst
	same 'a stream compressed with zstd is shown as the trace is' dump.output stdout
	head -c 100 packed.zst >cut.zst
	reports 1 'cut short' ktrace show cut.zst
	cat packed.zst cut.zst >longer.zst
	reports 0 'longer.zst: the compressed file is cut short' ktrace show longer.zst
	same 'a compressed file that is cut short: all before the cut is shown' dump.output stdout
	{ cat packed.zst; echo rubbish; } >rubbish.zst
	reports 0 'rubbish.zst: compressed bytes before offset' ktrace show rubbish.zst
	same 'a damaged compressed file: all before the damage is shown' dump.output stdout
	zstd -q records -o records.zst
	ktrace show --form bare --frequency 1000 records >dump.output 2>/dev/null
	reports 0 'records.zst: compressed with zstd' ktrace show --form bare --frequency 1000 records.zst
	same 'bare records compressed with zstd are shown as the records are' dump.output stdout
	# The first file that a program opens gets the lowest free number. So without standard error, messages
	# could go into the temporary file.
	ktrace show --form bare --frequency 1000 records.zst >stdout <&- 2>&-
	same 'no message is written into a file that was opened in place of standard error' dump.output stdout
else
	skip 'compressed with zstd' 'zstd is not installed'
fi

done_testing
