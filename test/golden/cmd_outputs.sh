# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Output files: a command never replaces or removes a FIFO, a socket or a symbolic link. Each command either refuses
# such a file or writes into it.
. test/tap.sh

root=$PWD
PATH=$root/build/bin:$PATH
build/test/cmd-traces "$tmp" || exit 1
build/test/ktrdump-traces "$tmp" || exit 1
cp test/golden/hwt_views/thread.steps "$tmp" || exit 1
# The function hwt runs the program ktrace-script, which reads scripts of steps instead of hardware
# traces.
ln -s "$PWD/build/test/ktrace-script" "$tmp/hwt" || exit 1
cd "$tmp" || exit 1
mkfifo fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' || exit 1
echo text >target
ln -s target link
ln -s fifo to-fifo
ln -s absent to-nothing
ls -l --time-style=+ fifo socket link to-fifo to-nothing >before

# refuses STATUS "part of the message" COMMAND…: checks the exit status and the message of the command, and
# that it has not changed any special file.
refuses() {
	expected=$1 message=$2
	shift 2
	timeout $limit "$@" >stdout 2>stderr </dev/null
	status=$?
	ls -l --time-style=+ fifo socket link to-fifo to-nothing >after 2>&1
	if [ "$status" -eq "$expected" ] && grep -qF -e "$message" stderr && cmp -s before after; then
		pass "$*: $expected, $message"
	else
		fail "$*: $expected, $message" "exit status $status: $(cat stderr)
$(diff before after)"
	fi
}

# These commands write the output to a file with a different name, and then rename this file.
for file in fifo socket to-fifo link to-nothing; do
	refuses 1 "$file: exists and is not a regular file" ktrace extract --machine x86_64 -o $file ktr.ram
	refuses 1 "$file: exists and is not a regular file" ktrace extract -o $file --qmp absent
	refuses 1 "$file: exists and is not a regular file" ktrace run -o $file -- true
	refuses 1 "$file: exists and is not a regular file" ktrace doctor -o $file -- true
done
equal "a file that a refused link names is unchanged" text "$(cat target)"

# These commands delete an older output file before QEMU creates a new one.
for file in fifo socket to-fifo link to-nothing; do
	refuses 1 "$file: exists and is not a regular file" ktrace qemu-args --branches=$file x86_64
	refuses 1 "$file: exists and is not a regular file" ktrace hwt -c qemu -w $file -- qemu-system-x86_64
	refuses 1 "$file: exists and is not a regular file" ktrace run -o out --branches=$file -- true
	refuses 1 "$file" ktrace record -f $file true
done

# These commands open the output file if it exists. So they write into a FIFO, and into the file to which a
# link points.
into() {
	what=$1
	shift
	timeout $limit cat fifo >read &
	timeout $limit "$@" >stdout 2>stderr
	equal "$what: writes into a FIFO" 0 $?
	wait $!
	check "$what: the FIFO receives the output" test -s read
	check "$what: the FIFO is still there" test -p fifo
}
into "export -o" ktrace export --format json -o fifo v2.ktrx
into "show --svg" ktrace show --svg fifo v2.ktrx
into "stats --svg" ktrace stats --value syscall.exit.result --svg fifo v2.ktrx
into "ktrdump -o" ktrdump -o fifo -M ktr.ram
into "hwt -w" ./hwt -w fifo --functions thread.steps
refuses 1 'socket: No such device or address' ktrace export --format json -o socket v2.ktrx
refuses 1 'socket: No such device or address' ktrace show --svg socket v2.ktrx
refuses 1 'socket: No such device or address' ./hwt -w socket --functions thread.steps

# After a failed write, a command removes the incomplete file, but not a link to it.
(
	trap '' XFSZ
	ulimit -f 1
	ktrace export --format json -o link v2.ktrx
	ktrace export --format json -o plain v2.ktrx
) 2>stderr
equal "both writes fail" 2 "$(grep -c 'File too large' stderr)"
check "an incomplete file is removed" test ! -e plain
equal "a link to an incomplete file remains" target "$(readlink link)"
check "a file that a link names is empty after a failed write" test ! -s target

# If a write into a directory fails, the command removes only the files that it wrote. So the command can be
# repeated.
for format in ctf parquet; do
	mkdir folder
	[ $format = ctf ] || echo >folder/other
	(
		trap '' XFSZ
		ulimit -f 1
		ktrace export --format $format -o folder v2.ktrx
	) 2>stderr
	check "$format: the write fails" grep -q 'File too large' stderr
	equal "$format: the incomplete files are removed" "$([ $format = ctf ] || echo other)" "$(ls folder)"
	ktrace export --format $format -o folder v2.ktrx 2>stderr
	equal "$format: the directory can be used again" 0 $?
	rm -r folder
done

# A signal makes the command remove the incomplete output as well, in every format.
"$root/build/test/memory-trace" long.ktrx 64 1000 2 || exit 1
for format in ctf folded fxt json parquet perfetto speedscope sqlite stream; do
	python3 "$root/test/golden/interrupt.py" SIGINT out ktrace export -f $format long.ktrx -o out >said
	equal "$format: SIGINT ends the export" -2 "$(sed -n 's/^status //p' said)"
	check "$format: the message reports it" grep -q 'ktrace export: interrupted: the incomplete output' said
	equal "$format: nothing remains" "" "$(ls -d out* 2>/dev/null)"
done
python3 "$root/test/golden/interrupt.py" SIGTERM out ktrace html long.ktrx -o out >said
equal "html: SIGTERM ends it, and nothing remains" "-15 " "$(sed -n 's/^status //p' said) $(ls -d out* 2>/dev/null)"
mkdir kept
touch kept/other
python3 "$root/test/golden/interrupt.py" --keep SIGHUP kept ktrace export -f parquet long.ktrx -o kept >said
equal "parquet: other files of the directory remain" other "$(ls kept)"

# If the directory for temporary files is full, the message does not blame the output file.
(
	trap '' XFSZ
	ulimit -f 1
	TMPDIR=$tmp/kept ktrace export --format speedscope v2.ktrx -o plain
) 2>stderr
check "speedscope: the error names the directory for temporary files" grep -q "kept: File too large" stderr

ktrace extract --json --machine x86_64 -o out ktr.ram >/dev/full 2>stderr
equal "extract --json: a full disk gives exit status 1" 1 $?
check "extract --json: a full disk is reported" grep -q 'ktrace extract: standard output: No space left' stderr

done_testing
