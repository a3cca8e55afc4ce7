#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Installs what is built, the manual, and what goes into a kernel: scripts/install.sh PREFIX TOOL…
set -eu
prefix=$1
shift

install -d "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/man/man4" "$prefix/share/man/man8"
install -m 755 build/bin/ktrace "$prefix/bin"
for tool; do ln -sf ktrace "$prefix/bin/$tool"; done
install -m 644 man/*.1 "$prefix/share/man/man1"
install -m 644 man/*.4 "$prefix/share/man/man4"
install -m 644 man/*.8 "$prefix/share/man/man8"
install -D -m 644 share/default.rules "$prefix/share/ktrace/default.rules"
install -d "$prefix/share/ktrace/tables"
install -m 644 share/tables/*.table "$prefix/share/ktrace/tables"
find include kernel -type f | while IFS= read -r file; do
	install -D -m 644 "$file" "$prefix/share/ktrace/$file"
done
