# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Invalid arguments, unusable files, full disks and closed pipes: exit status and message of each command.
. test/tap.sh

PATH=$PWD/build/bin:$PATH
build/test/cmd-traces "$tmp" || exit 1
cd "$tmp" || exit 1
: >empty
printf abc >three
tail -c +193 v1.bin | head -c 1500 >cut.bin
{ head -c 100 /dev/zero; cat v2.ktrx; printf rubbish; } >around.ktrx
mkdir folder

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

reports 2 'usage: ktrace COMMAND' ktrace
equal "ktrace --version" "ktrace $(cat "$OLDPWD/VERSION")" "$(ktrace --version)"
reports 2 "ktrace $(cat "$OLDPWD/VERSION")" ktrace
reports 2 "no command 'frobnicate'" ktrace frobnicate
reports 2 'no file given' ktrace show
reports 2 'no file given' ktrace-decode
reports 2 'only one file can be given' ktrace show a b
reports 2 'unrecognized option' ktrace summary --frobnicate v1.bin
for command in show why sql 'export --format json' html 'life thread 1' hwt kdump control 'diff v2.ktrx'; do
	reports 2 'the name of the file is empty' ktrace $command ''
done
for option in elf with calls; do
	reports 2 "--$option: '' is not the name of a file" ktrace show --$option '' v2.ktrx
done
reports 2 "--output: '' is not the name of a file" ktrace html --output= v2.ktrx
for value in x 5-3 1, 4096 ''; do
	reports 2 '--cpu' ktrace show --cpu "$value" v1.bin
done
for value in x 1.x 5lightyears -1; do
	reports 2 '--since' ktrace show "--since=$value" v1.bin
done
reports 2 '--pid' ktrace show --pid 99999999999 v1.bin
reports 2 '--limit' ktrace show --limit 0 v1.bin
reports 2 '--form' ktrace show --form v3 v1.bin
reports 2 '--v1-layout' ktrace show --v1-layout other v1.bin
reports 2 '--machine' ktrace show --machine vax v1.bin
reports 2 '--frequency' ktrace show --frequency 0 v1.bin
reports 2 "--frequency: '1000000000001' (a number from 1 to 1000000000000)" ktrace show --frequency 1000000000001 v1.bin
reports 2 "--frequency: '0' (a number from 1 to" timeout $limit ktrace live --frequency 0 --count 1 absent
reports 2 "--count: '0' (a number of at least 1)" timeout $limit ktrace live --count 0 absent
reports 1 "a directory, not the RAM file of a guest" timeout $limit ktrace live --count 1 --interval 100ms .
for value in 0 99ms 86401 18446744073s; do
	reports 2 "--interval: '$value' (a time from 100ms to 86400s)" timeout $limit ktrace live --interval "$value" --count 1 absent
done
reports 2 "--timeout: '0' (a time of at least 1ns)" timeout $limit ktrace control --timeout 0 v2.ktrx -sched
reports 2 "'0' is not a memory size" ktrace qemu-args --memory 0 x86_64
for value in ' 1' +1 -1 -0 inf x ''; do
	reports 2 "--timeout: '$value' is not a number of seconds" ktrace run --timeout "$value" -- true
done
reports 2 "--seconds: '0' is not a number of seconds above 0" ktrace doctor --seconds 0 -- true
for value in 0 1023 32K 65537 2048G 8589934592G; do
	reports 2 "-b: '$value' is not a power of two from 64K to 1024G" ktrace hwt -c qemu -b "$value" -w out -- qemu-system-x86_64
done
reports 2 "-s: '1-' is not a list of CPUs up to 4095, such as 0,2-5" ktrace hwt -s 1- v2.ktrx
reports 2 "--cpu: '4096' is not a list of CPUs up to 4095" ktrace show --cpu 4096 v2.ktrx
reports 2 "-p: '0' is not a number from 1 to 2147483647" ktrace record -p 0
reports 2 "-g: '2147483648' is not a number from 1 to 2147483647" ktrace record -g 2147483648
reports 2 "-t: 'cx' contains the letter 'x', which is not one of cnisutfwpy+" ktrace record -t cx true
reports 2 "--gdb: 'b' is a second machine: only one --qmp or --gdb can be given" ktrace why --qmp a --gdb b
for option in '--noise 5us' '--then 1,2' '--deadline 1'; do
	reports 2 "${option%% *} needs --seed or --deterministic" ktrace run $option -- true
done
reports 2 '--deterministic means --seed 0' ktrace run --deterministic --seed 7 -- true
for value in x -1 9223372036854775808 ''; do
	reports 2 "invalid value for --seed: '$value'" ktrace run "--seed=$value" -- true
done
for value in 1 1, ,1 0,7 x,7 1,x 1,-7 1,9223372036854775808 1,2,3; do
	reports 2 "invalid value for --then: '$value' (TIME,SEED, such as 1.5,7)" ktrace run --seed 7 --then $value -- true
done
for value in 0 1001ms x hook hooks, hooks,0 timers,x ,1us; do
	wrong="--noise: '$value' is not timers|hooks|both, or a time from 1ns to 1s, or a word and a time"
	reports 2 "$wrong" ktrace run --seed 7 --noise $value -- true
	reports 2 "$wrong" ktrace hunt --noise $value -- true
done
reports 2 '--noise hooks needs the kernel' ktrace run --seed 7 --noise hooks --elf v2.ktrx -- true
reports 2 '--noise hooks needs the kernel' ktrace hunt --noise both --elf v2.ktrx -- true
for command in run hunt; do
	reports 2 "--deadline: '0' (a time of at least 1ns)" ktrace $command --deadline 0 -- true
	reports 2 'no command given' ktrace $command
	reports 1 'never started a QEMU' ktrace $command -- true
done
reports 2 'no command given' ktrace run --seed 7
printf '0.2 ls\n0.1 ps\n' >typed.order
printf '0.2 ls\n\nps\n' >typed.time
printf '0.2 ls\ninf ps\n' >typed.endless
: >typed.empty
reports 1 'typed.order: line 2: expected "SECONDS TEXT", in the order of the times' ktrace run --seed 7 --input typed.order -- true
reports 1 'typed.time: line 3: expected "SECONDS TEXT"' ktrace run --seed 7 --input typed.time -- true
reports 1 'typed.endless: line 2: expected "SECONDS TEXT"' ktrace hunt --input typed.endless -- true
reports 1 'typed.empty: expected 1 to 16383 bytes of text' ktrace hunt --input typed.empty -- true
reports 2 '--replay takes the command from the trace' ktrace run --replay v2.ktrx -- true
for option in --deterministic '--seed 7' '--noise 1us' '--then 1,7' '--deadline 1' '--events sched' --branches --trace-unit \
	'--transport ram' --allow-reboot; do
	reports 2 "${option%% *} cannot be combined with --replay, which repeats a run unchanged" ktrace run --replay v2.ktrx $option
done
reports 2 '--out must not be the trace of the first run' ktrace run --replay v2.ktrx --out ./v2.ktrx
reports 1 'v2.ktrx: the run cannot be repeated: it was not recorded with --seed or --deterministic' ktrace run --replay v2.ktrx
reports 1 'absent: No such file' ktrace run --replay absent
reports 1 'three' ktrace run --replay three
check "a replay that cannot be made leaves no trace" test ! -e replay.ktrx
for value in 0 x 5-3 0-3 1-x 3- 10000001 1-10000001 ''; do
	reports 2 "--seeds: '$value' (N or FIRST-LAST, from 1 on, at most 10000000 seeds)" ktrace hunt --seeds "$value" -- true
done
reports 2 "--jobs: '0' (a number from 1 to 512)" ktrace hunt --jobs 0 -- true
reports 2 "--timeout: 'x' is not a number of seconds" ktrace hunt --timeout x -- true
reports 1 'absent/hunt: No such file' ktrace hunt --out absent/hunt -- true
reports 1 'three/results.jsonl: Not a directory' ktrace hunt --out three -- true
mkdir other && echo '{"version":1}' >other/results.jsonl
reports 1 'other/results.jsonl: results of another command line, or of other values of' ktrace hunt --resume -o other -- true
reports 2 'other: has results of an earlier hunt: continue it with --resume, or choose another directory with --out' ktrace hunt -o other -- true
equal "results of another command line are unchanged" '{"version":1}' "$(cat other/results.jsonl)"
reports 2 "--since: 'soon' (a time such as 1.5, 250ms or 20us)" ktrace show --since soon v2.ktrx
reports 2 "--earlier: 'x' is too many: at most 16 can be given" ktrace why $(printf -- '--earlier a %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16) --earlier x v2.ktrx
reports 2 "no event 'nope'" ktrace show --event nope v1.bin
reports 2 'v2.ktrx has 2 CPUs, and --cpu 9 selects none of them' ktrace show --cpu 9 v2.ktrx
reports 2 '--cpu 9 selects none of them' ktrace summary --cpu 9 v1.bin
reports 2 'no format given' ktrace export v1.bin -o out
reports 2 "no format 'ctf3'" ktrace export --format ctf3 v1.bin -o out
reports 2 'no output file given' ktrace export --format json v1.bin
reports 2 'must be given together' ktrace stats --begin syscall v2.ktrx
reports 2 '--by needs' ktrace stats --by nr v2.ktrx
reports 2 '--interval needs' ktrace stats --interval 1 v2.ktrx
reports 2 'only one of' ktrace stats --rate --value sched.switch.state v2.ktrx
reports 2 '--svg draws one' ktrace stats --svg out v2.ktrx
reports 2 "sched.wake has no field 'nr'; its fields are:" ktrace stats --begin sched.wake --end syscall.exit --by nr v2.ktrx
reports 2 "no event 'nope'" ktrace stats --begin nope --end syscall v2.ktrx
reports 2 '--value' ktrace stats --value result v2.ktrx
reports 2 'is a string' ktrace stats --value vfs.open.path typed.ktrx
reports 2 "has no field 'nope'" ktrace stats --value syscall.exit.nope v2.ktrx
reports 2 '--by' ktrace stats --begin syscall --end syscall --by nr,nr,nr,nr,nr v2.ktrx
reports 2 'ends before it begins' ktrace show --svg out --from 2ms --to 1ms v2.ktrx
reports 2 '--from' ktrace show --svg out --from x v2.ktrx
for command in show summary stats 'stats --rate'; do
	reports 2 'ends before it begins' ktrace $command --since 2ms --until 1ms v2.ktrx
	reports 0 'no event matches all of: --since 100s' ktrace $command --since 100s v2.ktrx
done
reports 0 'no event matches all of: --pid 99999' ktrace show --pid 99999 v2.ktrx
reports 0 'no event is in this window' ktrace show --svg nowhere --from 100s v2.ktrx
reports 2 '--settings shows no events' ktrace show --settings --event sched v2.ktrx
reports 2 '--svg draws' ktrace show --svg out --json v2.ktrx
reports 2 '--hex shows' ktrace show --hex --json v2.ktrx
check "no picture is drawn after an error" test ! -e out
reports 1 'is an input file' ktrace show --svg v2.ktrx v2.ktrx
# A device such as /dev/zero never ends: a copy of it would fill the disk.
reports 1 '/dev/zero: is a character device, not a trace' timeout $limit ktrace show /dev/zero
reports 3 '/dev/zero: is a character device, not a trace' timeout $limit ktrace diff v2.ktrx /dev/zero
reports 1 'No space left' ktrace show --svg /dev/full v2.ktrx
reports 0 'event cost is unknown' ktrace show --subtract-cost v2.ktrx
reports 0 'event cost is unknown' ktrace stats --subtract-cost v2.ktrx
reports 2 'is for durations' ktrace stats --subtract-cost --rate v2.ktrx
for value in 0 x 1h; do
	reports 2 '--interval' ktrace stats --rate --interval "$value" v2.ktrx
done
reports 1 'is an input file' ktrace stats --value syscall.exit.result --svg v2.ktrx v2.ktrx
reports 1 'No space left' ktrace stats --value syscall.exit.result --svg /dev/full v2.ktrx

cp v2.ktrx ktrace.ktrx
ktrace show >stdout
check "without a file, ktrace.ktrx is shown" grep -q frobnicate stdout
rm ktrace.ktrx

for trace in v1.bin v2.ktrx around.ktrx; do
	reports 1 'is already a trace; to show it: ktrace show' ktrace extract -o out $trace
done
reports 15 'no ktrace data in its' ktrace extract -o out three
for value in -1 -0.5 nan x; do
	reports 2 '-A' ktrdump -r -A $value -M v2.ktrx
done

reports 1 'no guest can answer' ktrace control v2.ktrx -sched --timeout 1s
reports 1 'no guest can answer' ktrace control --timeout 1s v2.ktrx -- -sched
reports 1 'no guest can answer' ktrace control -- v2.ktrx -sched.switch
reports 2 '--timeout' ktrace control v2.ktrx -sched --timeout x
reports 2 'unrecognized option' ktrace control v2.ktrx --frobnicate
reports 1 'No such file' timeout $limit ktrace control -
reports 2 "no event '-json'" ktrace control v2.ktrx -- --json
reports 2 'invalid option' ktrace control -sched v2.ktrx
reports 2 'no file given' ktrace control --
ktrace control --json v2.ktrx >before && ktrace control v2.ktrx --json >after
check "options after the file have the same effect as before it" cmp before after
for c in run doctor extract hunt qemu-args take; do
	ktrace $c --help | grep -qe '-o, --out' || echo $c
done >without
check "each command with --out has -o" test ! -s without

reports 1 'empty' ktrace show empty
reports 1 'three' ktrace show three
reports 1 'folder' ktrace show folder
reports 1 'absent: No such file' ktrace show absent
reports 1 'three' ktrace-decode three
reports 1 'three' ktrace summary three
reports 1 'three' ktrace export --format json three -o out
check "no output is written if the file is not a trace" test ! -e out
reports 1 'is an input file' ktrace export --format json v1.bin -o v1.bin
check "the trace is still there" test -s v1.bin

reports 0 'cut short' ktrace show cut.bin
check "the available part of a truncated dump is shown" grep -q SYSCALL_ENTER stdout
reports 0 'belong to no dump' ktrace show around.ktrx
check "a dump among other bytes is shown" grep -q frobnicate stdout

for command in 'show' 'show --json' summary 'summary --json' stats 'stats --json' 'stats --rate' \
	'show --budget 2000' 'stats --budget 1000 --json'; do
	ktrace $command v2.ktrx >/dev/full 2>stderr
	equal "$command: a full disk gives exit status 1" 1 $?
	check "$command: a full disk is reported" grep -q 'No space left' stderr
done
reports 1 'No space left' ktrace export --format json v2.ktrx -o /dev/full
ktrace-decode v1.bin >/dev/full 2>stderr
equal "ktrace-decode: a full disk gives exit status 1" 1 $?

ktrace --help >/dev/full 2>stderr
equal "ktrace --help: a full disk gives exit status 1" 1 $?
equal "ktrace --help: a full disk is reported" "ktrace: standard output: No space left on device" "$(cat stderr)"
ktrace --version >/dev/full 2>stderr
equal "ktrace --version: a full disk gives exit status 1" 1 $?
check "ktrace --version: a full disk is reported" grep -q 'No space left' stderr
for command in $(ktrace --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
	for form in --help --help=mdoc; do
		ktrace $command $form >/dev/full 2>stderr
		equal "$command $form: a full disk gives exit status 1" 1 $?
		equal "$command $form: a full disk is reported" "ktrace $command: standard output: No space left on device" "$(cat stderr)"
	done
done
echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | ktrace mcp >/dev/full 2>stderr
equal "mcp: a full disk gives exit status 1" 1 $?
equal "mcp: a full disk is reported" "ktrace mcp: standard output: No space left on device" "$(cat stderr)"
ktrace qemu-args x86_64 >/dev/full 2>stderr
equal "qemu-args: a full disk gives exit status 1" 1 $?
equal "qemu-args: a full disk is reported" "ktrace qemu-args: standard output: No space left on device" "$(cat stderr)"

# If the end of a dump is missing, the number of lost slots is unknown.
head -c 3000 v2.ktrx >cut.ktrx
check "the loss of a truncated dump is unknown" sh -c 'ktrace summary cut.ktrx 2>/dev/null | grep -qx "loss      unknown: the dump is cut short"'
check "the loss of a truncated dump is not reported as none" sh -c '! ktrace summary cut.ktrx 2>/dev/null | grep "loss *none"'
for trace in cut.ktrx cut.bin; do
	check "JSON reports the truncation: $trace" sh -c 'ktrace summary --json "$0" 2>/dev/null | grep -q "\"cut_short\":true"' $trace
done

# The reader of the output exits after one line. The rest of the output is larger than the buffer of any
# pipe.
awk 'BEGIN { for (n = 0; n < 20000; n++) printf "%032d", n }' >records
{ ktrace show --form bare --frequency 1000000 records 2>stderr; echo $? >status; } | head -n 1 >stdout
equal "a closed pipe gives exit status 1" 1 "$(cat status)"
equal "a closed pipe gives no message" "" "$(grep -v 'order of timestamps\|shown by number' stderr)"

for command in show summary stats export decode; do
	ktrace $command --help >stdout 2>stderr
	equal "$command --help succeeds" 0 $?
	check "$command --help shows an example" grep -qE '^  ktrace' stdout
	ktrace --help >list
	check "$command is listed by ktrace --help" grep -q "^  $command " list
done

done_testing
