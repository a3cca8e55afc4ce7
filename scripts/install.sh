#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Installs the tools, the manual, and the sources for kernels: scripts/install.sh PREFIX TOOL…
set -eu
prefix=$1
shift

install -d "$prefix/bin" "$prefix/lib"
install -m 755 build/bin/ktrace "$prefix/bin"
for tool; do ln -sf ktrace "$prefix/bin/$tool"; done
install -m 755 build/lib/ktrace-pt.so build/lib/ktrace-schedule.so "$prefix/lib" # where ktrace looks for it: ../lib
for page in man/*.[1-9]; do
	install -D -m 644 "$page" "$prefix/share/man/man${page##*.}/${page#man/}"
done
install -D -m 644 share/default.rules "$prefix/share/ktrace/default.rules"
install -d "$prefix/share/ktrace/tables"
install -m 644 share/tables/*.table "$prefix/share/ktrace/tables"
find include kernel -type f | while IFS= read -r file; do
	install -D -m 644 "$file" "$prefix/share/ktrace/$file"
done
install -d "$prefix/share/ktrace/single"
install -m 644 build/single/ktrace.c build/single/ktrace.h "$prefix/share/ktrace/single"
find bindings/rust -name '*.rs' -o -name '*.c' -o -name 'Cargo.*' -o -name core.sh | grep -v '/tests/\|/examples/' | while IFS= read -r file; do
	install -D -m 644 "$file" "$prefix/share/ktrace/rust/${file#bindings/rust/}"
done
chmod 755 "$prefix/share/ktrace/rust/core.sh"
