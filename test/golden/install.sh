# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# `make install` installs everything: the tools run, the manual is complete, and a kernel can be built with
# the sources.
. test/tap.sh

place=$tmp/root/opt/ktrace
check "make install" make -s install DESTDIR="$tmp/root" PREFIX=/opt/ktrace
check "ktrace runs from there" "$place/bin/ktrace" --help
equal "ktrace-decode leads to it" ktrace "$(readlink "$place/bin/ktrace-decode")"
equal "ktrdump leads to it" ktrace "$(readlink "$place/bin/ktrdump")"
check "ktrdump runs from there" "$place/bin/ktrdump" --help
equal "kdump leads to it" ktrace "$(readlink "$place/bin/kdump")"
check "tables of kernels are there" test -s "$place/share/ktrace/tables/linux.table"
for page in man/*.[1-9]; do
	check "$page" test -s "$place/share/man/man${page##*.}/${page#man/}"
done
check "programs compile with sys/ktrace.h" sh -c "echo '#include <sys/ktrace.h>' | cc -I'$place/share/ktrace/include/user' -fsyntax-only -x c -"
check "the trace unit is found there" "$place/bin/ktrace" qemu-args x86_64 --trace-unit
check "the default rules are found there" sh -c "build/test/cmd-traces '$tmp' && '$place/bin/ktrace' check '$tmp/pairs.ktrx'"
check "a kernel builds with it" make -s -C examples/minimal KTRACE="$place/share/ktrace" OUT="$tmp/minimal"
check "and as two files" test -s "$place/share/ktrace/single/ktrace.c" -a -s "$place/share/ktrace/single/ktrace.h"
for file in Cargo.toml Cargo.lock build.rs core.sh src/lib.rs src/mirror.c; do
	check "the Rust crate's $file is there" test -s "$place/share/ktrace/rust/$file"
done
if command -v cargo >/dev/null; then
	check "and builds there, with the C library that lies beside it" cargo build --offline --locked --features bundled \
		--manifest-path "$place/share/ktrace/rust/Cargo.toml" --target-dir "$tmp/rust"
else
	skip "and builds there" "cargo is not installed"
fi
check "again, over itself" make -s install DESTDIR="$tmp/root" PREFIX=/opt/ktrace
done_testing
