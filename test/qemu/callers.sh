# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs a known chain of calls on each architecture. Checks the callers and the call site that its events
# record, with names from the kernel's file, and compares a backtrace printed by the kernel with addr2line.
. test/tap.sh
. test/qemu/run_support.sh

export LC_ALL=C

# boot ARCH ARGUMENTS: boots the demo kernel; stores the console without carriage returns in $tmp/text.
boot() {
	# shellcheck disable=SC2046
	run -q -- $(demo "$1" 1) -append "$2"
	tr -d '\r' <"$tmp/console" >"$tmp/text"
}

# functions ARCH: prints the functions in the backtrace in $tmp/text, without the suffixes that compilers
# append to names. Looks up the byte before each return address: the return address itself may be the start
# of the next function, but the byte before it belongs to the call.
functions() {
	sed -n 's/^#[0-9]* \(0x[0-9a-f]*\)$/\1/p' "$tmp/text" |
		while read -r address; do printf '0x%x\n' $((address - 1)); done |
		llvm-addr2line -f -e "build/demo/$1/kernel.elf" | sed -n '1~2{s/\..*//;p}' | tr '\n' ' '
}

# line_of PATTERN: prints the number of the first line that matches in the workload's source.
line_of() { grep -n "$1" demo/kern/work/calls.c | head -n 1 | cut -d : -f 1; }

second=$(line_of 'calls_third(number + 1)') first=$(line_of 'calls_second(number + 1)')
callers="<- calls_second[^ ]*+0x[0-9a-f]* (demo/kern/work/calls.c:$second)"
callers="$callers <- calls_first[^ ]*+0x[0-9a-f]* (demo/kern/work/calls.c:$first)"

# log_of PATTERN: prints file and line of the KTR_LOG that matches, as they appear in JSON.
log_of() {
	echo "\"file\":\"demo/kern/work/ktr.c\",\"line\":$(grep -n "LOG($1" demo/kern/work/ktr.c | head -n 1 | cut -d : -f 1)"
}

for arch in x86_64 aarch64 riscv64; do
	elf=build/demo/$arch/kernel.elf
	boot $arch 'run=calls ktrace=calls=callers2+site'
	equal "$arch: the kernel ran to its end" 0 "$status"
	$ktrace show --elf "$elf" --event calls "$out" >"$tmp/shown" 2>"$tmp/shown.err"
	for event in short long; do
		place="@ calls_third[^ ]*+0x[0-9a-f]* (demo/kern/work/calls.c:$(line_of "KTRACE(calls, $event"))"
		check "$arch: callers and site of calls.$event: $(grep -F "calls.$event" "$tmp/shown")" \
			grep -q "calls\.$event .* $callers $place\$" "$tmp/shown"
	done
	equal "$arch: show prints no warning" '' "$(cat "$tmp/shown.err")"
	case $(functions $arch) in
	"calls_third calls_second calls_first work_calls work_run_all "*) pass "$arch: the backtrace names all functions of the chain" ;;
	*) fail "$arch: the backtrace names all functions of the chain" "$(functions $arch)" ;;
	esac
	boot $arch 'run=calls backtrace=2'
	equal "$arch: a backtrace limited to two calls has two" 'calls_third calls_second ' "$(functions $arch)"
	check "$arch: callers and sites are not recorded unless enabled" \
		sh -c "! $ktrace show --event calls '$out' | grep -E '<-|@'"
	boot $arch 'run=calls,sleepers ktrace=debug.ktr.stacktrace=2,debug.ktr.sites=1'
	$ktrace show --elf $elf "$out" 2>/dev/null | grep '^\[' >"$tmp/shown"
	check "$arch: settings enable callers and sites of all events" sh -c "grep sched.switch '$tmp/shown' | tail -n 1 |
		grep -qE ' <- [a-z_]+[^ ]*\+0x[0-9a-f]+ \(demo/kern/[a-z]+\.c:[0-9]+\).* @ [a-z_]+.*\(demo/kern/sched.c:'"
	equal "$arch: after a setting enabled sites, every event has one" '' \
		"$(awk '/ @ / { asked = 1 } asked && !/ @ /' "$tmp/shown" | head -n 3)"
	equal "$arch: every caller and site has a readable name" 0 "$(grep -cE '(<-|@) (0x|\$)' "$tmp/shown")"
	equal "$arch: a thread's first function has no caller" 0 "$(grep -c 'first_frame[^<@]*<-' "$tmp/shown")"
	check "$arch: the caller of an interrupt handler is the entry code" grep -qE \
		'irq irq\.enter.*<- [^<]*\(demo/arch/[^)]*\.S:[0-9]+\).* @ |irq irq\.enter.*trap\.c:.*<- [^<]*\.S:' "$tmp/shown"
	boot $arch 'run=ktr'
	lease=$(llvm-nm $elf | sed -n 's/^0*\([0-9a-f]*\) . lease\..*/\1/p')
	$ktrace show --json --event lease "$out" | sed 's/.*\("event":.*\)}$/\1/' >"$tmp/shown"
	cat >"$tmp/expected" <<-END
		"event":"lease.grant","args":{"holder":"a holder","lease":"0x$lease","number":7,"most":-1},$(log_of 'lease_grant, "a')
		"event":"lease.expire","args":{"reason":"x","ms":-250},$(log_of lease_expire,)
		"event":"lease.idle","args":{},$(log_of lease_idle,)
	END
	same "$arch: each DragonFly trace point has its file and line" "$tmp/expected" "$tmp/shown"
	build/bin/ktrdump -sfip -M "$out" | grep ' lease_' >"$tmp/places"
	equal "$arch: ktrdump shows places of trace points without the kernel's file" 3 "$(grep -c ' demo/kern/work/ktr\.c:2[0-9] ' "$tmp/places")"
	build/bin/ktrdump -d -o "$tmp/stream.kts" -M "$out" 2>"$tmp/stream.err"
	build/bin/ktrdump -sfip -M "$tmp/stream.kts" | grep ' lease_' >"$tmp/places.stream"
	same "$arch: a stream keeps the places of trace points" "$tmp/places" "$tmp/places.stream"
	boot $arch 'run=panic'
	case $(functions $arch) in
	*"work_panic work_run_all "*) pass "$arch: a panic prints its callers" ;;
	*) fail "$arch: a panic prints its callers" "$(functions $arch)" ;;
	esac
done

# The following commands run without a kernel file, with the file of another build, with a file for another
# architecture, and with a file that does not exist.
boot x86_64 'run=calls ktrace=calls=callers1+site'
elf=build/demo/x86_64/kernel.elf
line=$(line_of 'KTRACE_EVENT(calls, short')
check "without the kernel's file: addresses, and the place where the event is declared" \
	sh -c "$ktrace show --event calls.short '$out' |
		grep -qE ' <- 0x[0-9a-f]+ @ 0x[0-9a-f]+ \(declared demo/kern/work/calls.c:$line\)'"
check "show --json has callers and site with file and line" sh -c "$ktrace show --json --elf $elf --event calls.short '$out' | grep -qE '\"callers\":\[\{\"address\":\"0x[0-9a-f]+\",\"function\":\"calls_second[^\"]*\",\"offset\":[0-9]+,\"file\":\"demo/kern/work/calls.c\",\"line\":$second\}\],\"site\":'"
cp $elf "$tmp/other.elf"
build_id=$(readelf -n $elf | sed -n 's/.*Build ID: //p')
# A build id may contain any byte, even a newline. So grep cannot find it in the file.
at=$(python3 -c 'import sys; print(open(sys.argv[1], "rb").read().index(b"GNU\0" + bytes.fromhex(sys.argv[2])))' $elf "$build_id")
printf '\001\002\003\004' | dd of="$tmp/other.elf" bs=1 seek=$((at + 4)) conv=notrunc status=none
status=0
$ktrace show --elf "$tmp/other.elf" --event calls.short "$out" >"$tmp/shown" 2>"$tmp/err" || status=$?
equal "with the file of another build the trace is shown" 0 "$status"
message_has 'WARNING: '
message_has 'is NOT the kernel that was traced (build id 01020304'
check "with the file of another build each name has a question mark" grep -qE 'calls_second[^ ]*\+0x[0-9a-f]+\? ' "$tmp/shown"
status=0
$ktrace show --elf build/demo/aarch64/kernel.elf "$out" >"$tmp/shown" 2>"$tmp/err" || status=$?
equal "with a file for another architecture the trace is shown" 0 "$status"
message_has 'WARNING: build/demo/aarch64/kernel.elf: for another architecture'
$ktrace show "$out" 2>/dev/null >"$tmp/plain"
check "with a file for another architecture all events are shown, with addresses" cmp "$tmp/plain" "$tmp/shown"
status=0
$ktrace show --elf /nothing "$out" >"$tmp/shown" 2>"$tmp/err" || status=$?
equal "a missing file is refused" 1 "$status"
message_has '/nothing: No such file'

done_testing
