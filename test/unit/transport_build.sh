# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A kernel that wants one driver compiles no other: the library builds, and needs nothing from anywhere, with each alone.
# (With all of them: kernel_build/matrix.sh.)
. test/tap.sh
. test/unit/kernel_build/common.sh

# sources DRIVERS: of a library that has these.
sources() { make -s KTRACE_TRANSPORTS="$1" transport-sources-x86_64 | tr ' ' '\n' | sort; }

# objects SOURCE…: compiles those that have not been yet, and prints their names.
objects() {
	for source; do
		object=$tmp/$(echo "$source" | tr / _).o
		[ -e "$object" ] || compile gcc x86_64 "$source" "$object" -Os -fno-pie || return
		echo "$object"
	done
}

for driver in debugcon uart16550 virtio-mmio virtio-pci ivshmem; do
	sources $driver >"$tmp/sources"
	# shellcheck disable=SC2046
	check "$driver alone: the library compiles" objects $(cat "$tmp/sources")
	# shellcheck disable=SC2046
	check "$driver alone: and links" gcc -nostdlib -static -no-pie -Wl,-e,kernel_main -Wl,--build-id=none \
		-o "$tmp/program" $(objects test/unit/kernel_build/sample.c $(cat "$tmp/sources"))
	equal "$driver alone: nothing is missing" "" "$(nm -u "$tmp/program" | head)"
done

done_testing
