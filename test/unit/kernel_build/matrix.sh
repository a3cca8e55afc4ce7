#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that the whole kernel library, with all drivers, builds freestanding with gcc and clang, for each
# CPU, with the flags that kernels use; that a linked program has no undefined symbols and contains its
# events; and that no stack frame reaches 512 bytes, even without optimisation. Each CPU is built by each
# compiler, and each flag is used with one of them. Position-independent code is built for each CPU and by each
# compiler, and link-time optimisation is used by each compiler. MATRIX=all (make soak): all combinations.
. test/tap.sh
. test/unit/kernel_build/common.sh

samples='test/unit/kernel_build/sample.c test/unit/kernel_build/proc.c test/unit/kernel_build/hwt.c'
# Functions of these sources must have small stack frames: they run on the stack of the code that records.
# large.c has the largest possible events.
recording="test/unit/kernel_build/large.c $(make -s ktrace-sources ktrace-proc-sources | xargs)"
arches='x86_64 aarch64 riscv64'
# shellcheck disable=SC2046
make -s $(for arch in $arches; do echo "ktrace-hwt-sources-$arch transport-sources-$arch"; done) >"$tmp/lists"
for arch in $arches; do
	read -r hwt && read -r dumping # one line for each target
	eval "recording_$arch=\"$recording $hwt\" dumping_$arch=\"$dumping\""
done <"$tmp/lists"

# without "WORDS" "OTHERS": prints each word of WORDS that is not in OTHERS
without() { for word in $1; do case " $2 " in *" $word "*) ;; *) echo "$word" ;; esac; done; }

# Prints the compiler's option that rejects stack frames of 512 bytes.
frame_limit() { # gcc|clang
	case $1 in
	gcc) echo -Wstack-usage=511 ;;
	clang) echo -Wframe-larger-than=511 ;;
	esac
}

make_tree include kernel test/unit/kernel_build

# build NAME COMPILER ARCH FLAGS…: compiles and links everything, then checks the result
build() {
	name=$1 command=$(compiler_of "$2" "$3") for=$3
	at_once=$(case $* in *KTRACE_DISABLE* | *KTRACE_STATE=0* | *" gcc "*) echo no ;; *) echo yes ;; esac)
	limit=$(case $* in *FRAME_POINTERS*) frame_limit "$2" ;; esac)
	shift 3
	eval "recording=\$recording_$for dumping=\$(without \"\$dumping_$for\" \"\$recording_$for\")"
	out=$tmp/program sampled=$samples
	rm -f "$out"
	# shellcheck disable=SC2046,SC2086
	set -- -std=c11 -ffreestanding -nostdlib -static $c_warnings $(flags_of "$for") -Iinclude "-Ikernel/arch/$for" "$@"
	# shellcheck disable=SC2086
	if ! {
		[ $at_once = no ] || {
			into_tree "$recording" $command "$@" $limit && into_tree "$sampled $dumping" $command "$@" &&
				sampled=$(objects_of "$sampled") dumping=$(objects_of "$dumping") recording=$(objects_of "$recording")
		}
	} >"$tmp/log" 2>&1 || ! {
		[ -z "$limit" ] || {
			case $at_once in
			no) $command "$@" $limit -no-pie -r -o "$tmp/recording.o" $recording ;;
			yes) $command -nostdlib -r -o "$tmp/recording.o" $recording ;; # linkers refuse -r with -pie
			esac && recording=$tmp/recording.o
		} && $command "$@" -Wl,-e,kernel_main -Wl,--build-id=none -o "$out" $sampled $dumping $recording
	} >>"$tmp/log" 2>&1; then
		fail "$name" "$(head -n 20 "$tmp/log")"
	elif [ -n "$(nm -u "$out")" ]; then
		fail "$name" "undefined: $(nm -u "$out" | head)"
	elif ! readelf -SW "$out" | grep -q ktrace_events; then
		fail "$name" "no section ktrace_events"
	else
		pass "$name"
	fi
}

frames='-fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1'
plain='-fno-pie -no-pie'
pie='-fPIE -static-pie -Wl,--no-dynamic-linker'
sections='-ffunction-sections -fdata-sections -Wl,--gc-sections'

# wanted ARCH COMPILER: prints the flags of each build that `make check` tries, one build per line. Most
# builds use -O1, because it compiles faster than -O2. The build of the demo kernel tests gcc's -O2.
wanted() {
	case $1-$2 in
	x86_64-gcc) echo "-O0 -masm=intel $frames $pie" ;;
	aarch64-gcc) echo "-O0 $frames $plain" ;;
	riscv64-gcc) echo "-O0 -std=gnu11 $frames $pie" ;; # with names that are no words of C11, but macros
	x86_64-clang) echo "-O2 -mcmodel=kernel $frames $plain" ;;
	aarch64-clang) echo "-O1 $frames $pie" ;;
	riscv64-clang) echo "-O0 $frames $plain" ;;
	esac
	case $1-$2 in
	x86_64-gcc) echo "-Os -DKTRACE_STATE=0 -DKTRACE_MASKS=0 $sections -mcmodel=kernel $plain" ;;
	aarch64-gcc) echo "-O1 -flto -march=armv8.1-a -DKTRACE_DISABLE=1 $pie" ;; # with its own atomics
	riscv64-clang) echo "-O1 -flto $plain" ;;
	esac
}

# wanted_by_soak ARCH COMPILER: the same for the builds that only `make soak` tries
wanted_by_soak() {
	for level in -O0 -O1 -O2 -O3 -Os; do
		echo "$level $frames $plain"
		echo "$level $plain"
	done
	for way in "-std=gnu11 $pie" "-flto $plain" "-flto $pie" "$pie" "$sections $plain"; do
		echo "-O2 $way"
	done
	for setting in DISABLE=1 STATE=0 MASKS=0 MAX_CPUS=1 MAX_CPUS=4096 BOOT_SLOTS=512 STRING_MAX=200; do
		echo "-O2 -DKTRACE_$setting $plain"
	done
}

for arch in $arches; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		wanted $arch $compiler >"$tmp/wanted"
		[ "${MATRIX-}" != all ] || wanted_by_soak $arch $compiler >>"$tmp/wanted"
		while read -r flags; do
			# shellcheck disable=SC2086
			build "$arch $compiler $flags" $compiler $arch $flags
		done <"$tmp/wanted"

		echo 'void fill(char *); void wide(void); void wide(void) { char bytes[512]; fill(bytes); }' >"$tmp/wide.c"
		compile $compiler $arch "$tmp/wide.c" "$tmp/wide.o" -O2 "$(frame_limit $compiler)" >"$tmp/log" 2>&1
		check "$arch $compiler: a frame of 512 bytes would be refused" grep -q 'error: stack' "$tmp/log"
		nm -g --defined-only "$tmp/recording.o" | awk '{ print $3 }' >"$tmp/names"
		check "$arch $compiler: the library defines many names" test "$(wc -l <"$tmp/names")" -gt 100
		equal "$arch $compiler: what recording exports begins with ktrace_" '' \
			"$(grep -vE '^(ktrace_|site_)' "$tmp/names" | xargs)"
	done
done

done_testing
