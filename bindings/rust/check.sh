# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The Rust crate: built and tested with what is on this machine, nothing downloaded.
. test/tap.sh

if ! command -v cargo >/dev/null; then
	skip "the Rust crate" "cargo is not installed"
	done_testing
fi
# Debian 12 has Rust 1.63, which is too old.
least=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' bindings/rust/Cargo.toml)
have=$(rustc --version | cut -d ' ' -f 2)
if [ "$(printf '%s\n' "$least" "$have" | sort -V | head -n 1)" != "$least" ]; then
	skip "the Rust crate" "it needs Rust $least, and $have is installed"
	done_testing
fi

KTRACE_TEST_DUMP=$tmp/dump
export KTRACE_TEST_DUMP
cd bindings/rust || exit 1
check "the crate builds without the C library" cargo build --offline --locked
check "and without a warning" env RUSTFLAGS=-Dwarnings cargo check --offline --locked --all-features --all-targets
check "events recorded in Rust are dumped, golden traces are read" cargo test --offline --locked --features bundled
for target in x86_64-unknown-none aarch64-unknown-none riscv64imac-unknown-none-elf; do
	if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
		check "the crate builds for $target" cargo build --offline --locked --target "$target"
	else
		skip "the crate builds for $target" "the toolchain has no core library for it"
	fi
done
cd ../.. || exit 1

build/bin/ktrace show --frequency 1000000000 "$KTRACE_TEST_DUMP" 2>&1 | sed 's/^\[[^]]*\] //' >"$tmp/shown"
cat >"$tmp/expected" <<'END'
CPU0 PID=0                        test.switch      1 -> 2 after 81985529216486895 ns
CPU0 PID=0                        vfs.open         /etc/motd is -2, 0x0
CPU0 PID=0                        vfs.open         long/long/long/long/long/long/long/long/long/long/long/long/long is 0, 0x0
CPU0 PID=0                        boot.done        done
CPU0 PID=0                        test.switch      2 -> 1 after 0 ns
END
same "the reader shows them" "$tmp/expected" "$tmp/shown"

done_testing
