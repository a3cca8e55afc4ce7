# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# `make install` installs everything: the tools run, the manual is complete, and a kernel can be built with
# the sources.
. test/tap.sh

place=$tmp/root/opt/ktrace
check "make install succeeds" make -s install DESTDIR="$tmp/root" PREFIX=/opt/ktrace
check "the installed ktrace runs" "$place/bin/ktrace" --help
equal "ktrace-decode is a link to ktrace" ktrace "$(readlink "$place/bin/ktrace-decode")"
equal "ktrdump is a link to ktrace" ktrace "$(readlink "$place/bin/ktrdump")"
check "the installed ktrdump runs" "$place/bin/ktrdump" --help
equal "kdump is a link to ktrace" ktrace "$(readlink "$place/bin/kdump")"
check "tables of system calls are installed" test -s "$place/share/ktrace/tables/linux.table"
for page in man/*.[1-9]; do
	check "$page is installed" test -s "$place/share/man/man${page##*.}/${page#man/}"
done
check "programs compile with the installed sys/ktrace.h" sh -c "echo '#include <sys/ktrace.h>' | cc -I'$place/share/ktrace/include/user' -fsyntax-only -x c -"
check "the installed ktrace finds the trace unit" "$place/bin/ktrace" qemu-args x86_64 --trace-unit
check "the installed ktrace finds the default rules" sh -c "build/test/cmd-traces '$tmp' && '$place/bin/ktrace' check '$tmp/pairs.ktrx'"
check "a kernel builds with the installed sources" make -s -C examples/minimal KTRACE="$place/share/ktrace" OUT="$tmp/minimal"
check "the kernel library as two files is installed" test -s "$place/share/ktrace/single/ktrace.c" -a -s "$place/share/ktrace/single/ktrace.h"
for file in Cargo.toml Cargo.lock build.rs core.sh src/lib.rs src/mirror.c; do
	check "the Rust crate's $file is installed" test -s "$place/share/ktrace/rust/$file"
done
if command -v cargo >/dev/null; then
	check "the installed Rust crate builds with the installed C library" env 'CFLAGS=-O0 -g0' cargo build --offline --locked --features bundled \
		--manifest-path "$place/share/ktrace/rust/Cargo.toml" --target-dir "$tmp/rust"
else
	skip "the installed Rust crate builds with the installed C library" "cargo is not installed"
fi
check "make install over an installation succeeds" make -s install DESTDIR="$tmp/root" PREFIX=/opt/ktrace
done_testing
