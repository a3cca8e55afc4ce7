# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Who may include whom (doc/architecture.md). A room's row names the only prefixes its quoted includes may
# have; a plain file name (no slash) is the room's own.
. test/tap.sh

# includes ROOM-FOLDER: "file: included" for each quoted include below it.
includes() {
	find "$1" -name '*.[chS]' -type f | sort |
		xargs -r grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed 's/^\([^:]*\):.*"\(.*\)".*/\1: \2/'
}

# allow "name" FOLDER prefix…: every include below FOLDER starts with one of the prefixes or has no slash.
allow() {
	room=$1 folder=$2
	shift 2
	[ -d "$folder" ] || { fail "$room" "$folder is missing"; return; }
	includes "$folder" | grep ': .*/' >"$tmp/seen" || :
	for prefix; do
		grep -v ": $prefix" "$tmp/seen" >"$tmp/rest" || :
		mv "$tmp/rest" "$tmp/seen"
	done
	if [ -s "$tmp/seen" ]; then
		fail "$room" "$(cat "$tmp/seen")"
	else
		pass "$room"
	fi
}

allow "include/ktrx includes nothing of ours but itself" include/ktrx ktrx/
allow "include/ktrace sees the wire and itself" include/ktrace ktrx/ ktrace/
allow "include/ktread sees the wire and itself" include/ktread ktrx/ ktread/
allow "kernel/core never names transports" kernel/core ktrx/ ktrace/
allow "kernel/arch is a leaf" kernel/arch ktrx/ ktrace/ ../generic/
allow "kernel/transport sees the kernel API" kernel/transport ktrx/ ktrace/ transport/
allow "kernel/proc sees the kernel API" kernel/proc ktrx/ ktrace/
allow "kernel/hwt sees the kernel API and how process traces lay records out" kernel/hwt ktrx/ ktrace/ ../proc/
allow "kernel/console sees the kernel API and the core" kernel/console ktrx/ ktrace/ ../core/
allow "demo is a customer" demo ktrace/ ktrx/ net/ work/ bug/ devicetree/
allow "examples are customers" examples ktrace/ ktrx/
allow "host/base is a leaf" host/base base/
allow "host/ktread sees the wire" host/ktread ktrx/ ktread/ base/
allow "host/capture sees ktread, and names that are near" host/capture ktrx/ ktread/ capture/ base/ analyze/near.h
allow "host/analyze sees ktread" host/analyze ktrx/ ktread/ analyze/ base/
allow "host/export sees ktread and analyze" host/export ktrx/ ktread/ analyze/ export/ base/
allow "host/flow sees hwt and analyze" host/flow ktrx/ ktread/ hwt/ analyze/ flow/ base/
allow "host/plugin sees the wire alone" host/plugin ktrx/ plugin/
allow "host/live sees ktread and analyze" host/live ktrx/ ktread/ analyze/ live/ base/
allow "host/why sees ktread and analyze" host/why ktrx/ ktread/ analyze/ why/ base/
allow "host/record sees the wire and the header of programs" host/record ktrx/ user/ record/ base/
allow "host/doctor sees ktread, kernel files and analyze" host/doctor ktrx/ ktread/ capture/ analyze/ doctor/ base/
allow "host/kdump sees ktread" host/kdump ktrx/ ktread/ kdump/ build/gen/ base/
allow "host/hwt sees the wire, ktread, and the symbols of files" host/hwt ktrx/ ktread/ analyze/symbols.h hwt/ base/
allow "host/cmd sees the host" host/cmd ktrx/ ktread/ capture/ analyze/ export/ live/ why/ doctor/ kdump/ record/ hwt/ flow/ cmd/ base/

# No architecture is named by #if outside the rooms made for it.
find include kernel host -name '*.[ch]' -not -path 'kernel/arch/*' |
	xargs grep -nE '^[[:space:]]*#[[:space:]]*(el)?if.*__(x86_64|amd64|aarch64|riscv|arm)' >"$tmp/arch" || :
check "no #if on an architecture outside kernel/arch and demo/arch: $(head -n 3 "$tmp/arch")" test ! -s "$tmp/arch"

done_testing
