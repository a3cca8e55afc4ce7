# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Builds and tests the Rust crate with the tools on this machine; downloads nothing. Uses Debian's toolchain, or, if there is
# none, the one on the path. RUST_TOOLCHAINS=all: both. RUST_TARGETS: bare-metal targets in addition to one for RISC-V.
. test/tap.sh

toolchains=$(for cargo in /usr/bin/cargo "$(command -v cargo)"; do
	[ ! -x "$cargo" ] || dirname "$cargo"
done | uniq)
[ "${RUST_TOOLCHAINS-}" = all ] || toolchains=$(echo "$toolchains" | head -n 1)
if [ -z "$toolchains" ]; then
	skip "the Rust crate" "cargo is not installed"
	done_testing
fi
least=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' bindings/rust/Cargo.toml)
old() { [ "$(printf '%s\n' "$least" "$1" | sort -V | head -n 1)" != "$least" ]; }

# toolchain DIRECTORY: makes all later commands use the cargo in DIRECTORY. Each toolchain has its own
# build directory.
toolchain() {
	RUSTC=$1/rustc PATH=$1:$path
	version=$("$RUSTC" --version | cut -d ' ' -f 2)
	CARGO_TARGET_DIR=$PWD/build/rust/$version
	# rustc replaces each % in the name of an archive with a random digit, and then does not find the directory.
	case $PWD in
	*%*) CARGO_TARGET_DIR=$tmp/rust/$version ;;
	esac
	export RUSTC PATH CARGO_TARGET_DIR
}
path=$PATH

# in_crate COMMAND: runs the command in the crate's directory.
in_crate() { (cd bindings/rust && exec "$@"); }

# The tests need no debug information, and -O0 compiles the C library faster.
CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=0
export CARGO_PROFILE_DEV_DEBUG CARGO_PROFILE_TEST_DEBUG CARGO_INCREMENTAL
fast='-O0 -g0'

# All commands have the same flags, so that one can use what another one has built. LLVM's linker takes less time than
# GNU ld.
RUSTFLAGS="-Dwarnings $(! command -v ld.lld >/dev/null || echo -Clink-arg=-fuse-ld=lld)"
RUSTDOCFLAGS=$RUSTFLAGS
export RUSTFLAGS RUSTDOCFLAGS

# cargo would compile the crate's build script again for each set of features. Instead it calls this wrapper, which
# copies the build script from $tmp/build.
script_compiled() {
	# shellcheck disable=SC2086
	"$RUSTC" --edition 2021 $RUSTFLAGS bindings/rust/build.rs -o "$tmp/build"
}
cat >"$tmp/rustc" <<'END'
#!/bin/sh
case " $* " in
*" --crate-name build_script_build "*[\ /]build.rs\ *) ;;
*) exec "$@" ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--out-dir) folder=$2 ;;
	extra-filename=*) name=build_script_build${1#*=} ;;
	esac
	shift
done
echo "$folder/$name: build.rs" >"$folder/$name.d"
exec cp "${0%/*}/build" "$folder/$name"
END
chmod +x "$tmp/rustc"
RUSTC_WRAPPER=$tmp/rustc
export RUSTC_WRAPPER

# ---- The C library in the crate ----

# library TARGET: runs the crate's build script as cargo does; the script compiles the C library into
# $tmp/TARGET. -g0 does not change the instructions. For x86_64 and AArch64, gcc's -O2 uses vector
# registers unless a flag forbids it, so the check needs -O2. For RISC-V, no level of optimisation adds
# floating-point registers, and -O0 takes less time.
library() {
	mkdir "$tmp/$1"
	CFLAGS="-g0 $([ "$arch" != riscv64 ] || echo -O0)" CARGO_MANIFEST_DIR=$PWD/bindings/rust CARGO_FEATURE_BUNDLED=1 CARGO_CFG_TARGET_ARCH=$arch TARGET=$1 HOST=$host OUT_DIR=$tmp/$1 "$tmp/build"
}

# in_crate_with TARGET COMMAND…: like in_crate, but the crate's build script does not compile the C library
# again: if `library` has compiled it for TARGET with the same script, AR copies that library.
in_crate_with() (
	if [ -e "$tmp/$1/libktrace.a" ]; then
		CC=true AR=$tmp/ar
		export CC AR
		printf '#!/bin/sh\nexec cp "%s" "$2"\n' "$tmp/$1/libktrace.a" >"$AR"
		chmod +x "$AR"
	fi
	shift
	in_crate "$@"
)

# disassembled TARGET: writes the library's instructions and its undefined symbols, without addresses, to
# $tmp/code.
disassembled() {
	{
		llvm-objdump -d --no-show-raw-insn "$tmp/$1/libktrace.a" | sed 's/^ *[0-9a-f]*:[ 	]*//; s/ [0-9a-fx]* *<.*//'
		llvm-nm -u "$tmp/$1/libktrace.a"
	} >"$tmp/code"
	count_is_at_least 1000 "$tmp/code" '	'
}

# without NAME PATTERN: checks that no line of $tmp/code matches the pattern.
without() { equal "$target: $1" 0 "$(grep -cE -e "$2" "$tmp/code")"; }

# compiled_as_kernel_code: checks that the C library uses neither vector registers nor floating-point
# registers. While an event is recorded, these registers may contain values of the interrupted program.
compiled_as_kernel_code() {
	host=$("$RUSTC" -vV | sed -n 's/^host: //p')
	for target in x86_64-unknown-none aarch64-unknown-none riscv64imac-unknown-none-elf riscv64gc-unknown-none-elf; do
		case $target in
		riscv64*) arch=riscv64 ;;
		*) arch=${target%%-*} ;;
		esac
		case $host in
		"$arch"-*) compiler=cc ;;
		*) compiler=$arch-linux-gnu-gcc ;;
		esac
		if ! command -v "$compiler" >/dev/null || ! command -v llvm-objdump >/dev/null; then
			skip "$target: the C library" "$compiler or llvm-objdump is not installed"
			continue
		fi
		check "$target: the C library is compiled" library "$target"
		check "$target: it is disassembled" disassembled "$target"
		case $arch in
		x86_64)
			without "no SSE, AVX or x87 registers" '%[xyz]?mm[0-9]|%st'
			without "no access below the stack pointer" '(^|[^0-9a-fx])-(0x)?[0-9a-f]+\(%rsp\)'
			;;
		aarch64)
			without "no vector registers" '(^|[^0-9a-zA-Z_.])[vqdshb][0-9]+([^0-9a-zA-Z_]|$)'
			without "no atomics out of line" __aarch64_
			;;
		riscv64) without "no floating-point registers" '[ 	,]f[ats][0-9]' ;;
		esac
	done
}

# ---- The crate ----

# CC=true and AR=true: nothing is linked, so the C library need not be compiled.
tested_on_this_machine() {
	dump=$tmp/$version.dump
	bare=${host%%-*}-unknown-none # its code has the calling convention of this machine
	check "$version: the crate builds without the C library" in_crate cargo build --offline --locked
	check "$version: the crate builds without a warning" in_crate env CC=true AR=true \
		cargo check --offline --locked --all-features --all-targets
	check "$version: events recorded in Rust are dumped, golden traces are read" in_crate_with "$bare" env "CFLAGS=$fast" "KTRACE_TEST_DUMP=$dump" \
		cargo test --offline --locked --features bundled
	check "$version: its documentation builds" in_crate env CC=true AR=true \
		cargo doc --offline --locked --all-features --no-deps
	check "$version: groups of events are left out at compile time" in_crate_with "$bare" env "CFLAGS=$fast" KTRACE_NO='left_out sched' \
		cargo test --offline --locked --features bundled --test groups
	check "$version: the transport that a feature names is set up at the first byte" in_crate \
		cargo test --offline --locked --features transport-x86-64,transport-arm64 --test chosen
	build/bin/ktrace show --frequency 1000000000 "$dump" 2>&1 | sed 's/^\[[^]]*\] //' >"$tmp/shown"
	same "$version: the reader shows the events" "$tmp/expected" "$tmp/shown"
}
cat >"$tmp/expected" <<'END'
CPU0 PID=0                        test.switch      1 -> 2 after 81985529216486895 ns
CPU0 PID=0                        vfs.open         /etc/motd is -2, 0x0
CPU0 PID=0                        vfs.open         long/long/long/long/long/long/long/long/long/long/long/long/long is 0, 0x0
CPU0 PID=0                        boot.done        done
CPU0 PID=0                        test.switch      2 -> 1 after 0 ns
END

# has_core TARGET: selects the first toolchain that has a core library for TARGET, or can build one. Sets
# $flags to rustc's flags, or to the reason why there is none.
has_core() {
	for folder in $toolchains; do
		toolchain "$folder"
		flags=$(sh bindings/rust/core.sh "$RUSTC" "$1" build/rust/core) && return
	done
	return 1
}

# built_for TARGET: checks that the crate builds with the C library.
built_for() {
	target=$1
	if has_core "$target"; then
		check "$version: the crate builds for $target" in_crate_with "$target" env CFLAGS=-g0 "RUSTFLAGS=$flags -Dwarnings" \
			cargo build --offline --locked --release --all-features --target "$target"
	else
		skip "the crate builds for $target" "$flags"
	fi
}

# streams TARGET FEATURE LINKER ADDRESS STATUS QEMU…: checks that a kernel without rings sends a record
# through the transport that FEATURE selects. The kernel uses the crate that built_for has built.
streams() {
	if ! has_core "$1"; then
		skip "$2: a record is streamed" "$flags"
		return
	fi
	target=$1 feature=$2 expected=$5
	check "$feature: a kernel without rings is linked" in_crate env CFLAGS=-g0 "RUSTFLAGS=$flags -Dwarnings" cargo rustc --offline --locked --release \
		--all-features --target "$target" --example stream -- -C "linker=$3" -C linker-flavor=ld -C "link-arg=-Ttext=$4" \
		-C link-arg=-n -C relocation-model=static
	shift 5
	timeout -k 5 $limit "$@" -display none -monitor none -serial none -no-reboot -chardev "file,id=out,path=$tmp/$feature" \
		-kernel "$CARGO_TARGET_DIR/$target/release/examples/stream" >"$tmp/console" 2>&1 </dev/null
	equal "$feature: it exits with the expected status" "$expected" $?
	equal "$feature: a record is streamed" 88776655443322110044050040000000 "$(od -An -v -tx1 -N 16 "$tmp/$feature" | tr -d ' \n')"
	equal "$feature: nothing else is sent" 32 "$(wc -c <"$tmp/$feature")"
}

# Checks that the kernel in Rust boots, and that the exported trace has a track for each CPU, with spans of
# its threads.
example() {
	if ! has_core riscv64imac-unknown-none-elf; then
		skip "examples/rust boots" "$flags"
		return
	fi
	# The C library compiles faster without optimisation.
	printf '#!/bin/sh\nexec riscv64-linux-gnu-gcc "$@" %s\n' "$fast" >"$tmp/cc"
	chmod +x "$tmp/cc"
	check "$version: examples/rust builds" env CC="$tmp/cc" make -s -C examples/rust RUSTC="$RUSTC" CARGO=cargo OUT="$tmp/kernel" \
		CORE="$PWD/build/rust/core"
	build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- qemu-system-riscv64 -M virt -bios none -smp 4 \
		-nographic -kernel "$tmp/kernel/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
	equal "ktrace run exits with status 0" 0 $?
	build/bin/ktrace show "$tmp/trace" >"$tmp/shown" 2>>"$tmp/err"
	equal "each hart recorded example.hello before it had a ring" 4 "$(grep -c 'example.hello.*from hart' "$tmp/shown")"
	equal "every count is shown" 800 "$(grep -c 'example.count' "$tmp/shown")"
	check "threads have names" grep -q 'sched.switch.*(ping -> pong)' "$tmp/shown"
	equal "the lock was taken and released in each turn" "800 800" \
		"$(grep -c 'lock.acquire' "$tmp/shown") $(grep -c 'lock.release' "$tmp/shown")"
	build/bin/ktrace export --format json -o "$tmp/json" "$tmp/trace" 2>>"$tmp/err"
	for cpu in 0 1 2 3; do
		equal "CPU $cpu switched in each turn" 200 "$(grep -c "CPU$cpu .*sched.switch" "$tmp/shown")"
		check "CPU $cpu has a track" grep -q "\"thread_name\",\"pid\":0,\"tid\":$cpu,\"args\":{\"name\":\"CPU$cpu\"}" "$tmp/json"
		check "CPU $cpu has spans" test "$(grep -c "\"ph\":\"X\".*\"pid\":0,\"tid\":$cpu," "$tmp/json")" -ge 199
	done
}

examined=
for folder in $toolchains; do
	toolchain "$folder"
	if old "$version"; then
		skip "$version: the crate" "it needs Rust $least"
		continue
	fi
	check "$version: the build script compiles without a warning" script_compiled
	[ -n "$examined" ] || compiled_as_kernel_code
	examined=1
	tested_on_this_machine
done
for target in riscv64imac-unknown-none-elf ${RUST_TARGETS-}; do
	built_for "$target"
done
case " ${RUST_TARGETS-} " in *" x86_64-unknown-none "*)
	streams x86_64-unknown-none transport-x86-64 ld 0x100000 1 \
		qemu-system-x86_64 -cpu max -device isa-debugcon,chardev=out,iobase=0xe9 -device isa-debug-exit,iobase=0xf4
	;;
esac
case " ${RUST_TARGETS-} " in *" aarch64-unknown-none-softfloat "*)
	streams aarch64-unknown-none-softfloat transport-arm64 aarch64-linux-gnu-ld 0x40080000 0 \
		qemu-system-aarch64 -M virt -cpu cortex-a57 -semihosting-config enable=on,target=native,chardev=out
	;;
esac
example
done_testing
