#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Makes a corpus of traces: test/corpus/make.sh CHECKOUT FOLDER. CHECKOUT is a built checkout of the version
# whose traces are stored, with demo kernels for all architectures (make build ARCH=…). The traces of a
# version are made once and never again. test/corpus/read.sh checks that later versions read them.
#
# Pages of memory and programs that no command reads become zero, which keeps the files small.
set -eu
here=$(realpath "$(dirname "$0")")
checkout=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
work=/tmp/ktrace-corpus # the traces contain this path: it is always the same, and has no user's name
PATH=$checkout/build/bin:$PATH
rm -rf "$work"
mkdir -p "$work"
cd "$work"
for arch in x86_64 aarch64 riscv64; do cp "$checkout/build/demo/$arch/kernel.elf" "$arch.elf"; done

qemu() { KERNEL=$1.elf sh "$checkout/scripts/qemu.sh" "$1" 2 | sed "s/-m 128M/-m 32M/; $without"; }
without=s/x/x/

# run ARCH OUT "ARGUMENTS" [OPTION…]: runs the demo kernel; leaves the trace in OUT and the console output
# in OUT.console.
run() {
	arch=$1 out=$2 arguments=$3
	shift 3
	# shellcheck disable=SC2046
	timeout -k 5 100 ktrace run -q --timeout 60 --out "$out" "$@" -- $(qemu "$arch") -append "$arguments" \
		</dev/null >"$out.console" 2>&1 || echo "$out: status $?"
}

# zero FROM COUNT: checks COUNT pages of $file, beginning with page FROM. Clears each page that does not
# affect the output of the command $same.
zero() {
	[ "$2" -gt 0 ] || return 0
	dd if="$file" of=saved."$1"."$2" bs=4096 skip="$1" count="$2" status=none
	if tr -d '\0' <saved."$1"."$2" | cmp -s - /dev/null; then rm saved."$1"."$2"; return 0; fi
	dd if=/dev/zero of="$file" bs=4096 seek="$1" count="$2" conv=notrunc status=none
	if [ "$1.$2" != 0.1 ] && $same >is 2>&1 && cmp -s was is; then rm saved."$1"."$2"; return 0; fi
	dd if=saved."$1"."$2" of="$file" bs=4096 seek="$1" count="$2" conv=notrunc status=none
	rm saved."$1"."$2"
	[ "$2" -eq 1 ] || { zero "$1" $(($2 / 2)); zero $(($1 + $2 / 2)) $(($2 - $2 / 2)); }
}

# thin FILE COMMAND: clears the pages of FILE that do not affect the output of COMMAND. COMMAND reads FILE.
thin() {
	file=$1 same=$2
	$same >was 2>&1
	zero 0 $((($(stat -c %s "$file") + 4095) / 4096))
	$same >is 2>&1 && cmp was is
}

read_ram() {
	ktrace show --json "$file" && ktrace summary "$file" && ktrace why "$file" || :
	ktrace extract --previous -o previous.ktrx "$file"
	ktrace show --json previous.ktrx && ktrace summary previous.ktrx
}

read_program() {
	hwt --elf "$file" --calls branches && hwt --elf "$file" --functions branches && hwt --elf "$file" branches
}

events=debug=syscall,sched,mm,net,signal,process,vfs
run x86_64 deadlock.ktrx "run=abba slots=512 $events" --timeout 4
run aarch64 panic.ktrx "run=null-call slots=512 $events"
run riscv64 exit.ktrx "run=pipeline,echo slots=512 $events,irq,lock"
run x86_64 debugcon.ktrx "run=files slots=512 $events transport=debugcon file=" --transport debugcon
run aarch64 semihosting.ktrx "run=pipeline slots=512 $events transport=semihosting file=" --transport semihosting
run riscv64 virtio.ktrx "run=signals slots=512 $events transport=virtio file=" --transport virtio
ktrace export --format stream exit.ktrx -o exit.kts
# device ARCH OUT: prints QEMU's options for a virtio console that writes to the file OUT.
device() {
	case $1 in x86_64) bus=pci ;; *) bus=device ;; esac
	echo "-chardev file,id=k,path=$2 -device virtio-serial-$bus -device virtconsole,chardev=k"
}

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	timeout -k 5 100 $(qemu $arch) $(device $arch "$arch.v1") \
		-append "$events slots=512 transport=virtio dump=v1 run=pipeline,faultwalk,echo" </dev/null >v1.console 2>&1 || :
	without=s/-no-reboot//
	run $arch $arch.second "keep=1 $events slots=512 run=reset,echo" --allow-reboot --keep-ram
	without=s/x/x/
	mv "$arch".second.*.ram $arch.ram
	thin $arch.ram read_ram
	run $arch demo.ktrx "debug=process run=ktrace:-f:/tmp/$arch.ktrace:same,give:/tmp/$arch.ktrace"
	tr -d '\r' <demo.ktrx.console | ktrace take -d . 2>/dev/null
done
cc -O1 -o same "$checkout/demo/user/programs/same.c"
env -i "$checkout/build/bin/ktrace" record -f linux.ktrace ./same
for arch in x86_64 aarch64; do
	# shellcheck disable=SC2046
	hwt -c qemu -b 64K -w $arch.branches -- $(qemu $arch) -append "run=null-call" </dev/null >branches.console 2>&1 || :
	cp $arch.branches branches
	llvm-strip -g $arch.elf
	thin $arch.elf read_program
done

rm -f demo.* ./*.second ./*.console is was branches same riscv64.elf previous.ktrx
sh "$here/facts.sh" >"$folder.facts"
mv "$folder.facts" facts
mkdir -p "$folder/expected"
for trace in *; do zstd -q -19 -c "$trace" >"$folder/$trace.zst"; done
ls -l "$folder"
