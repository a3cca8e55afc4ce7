# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The whole library with all drivers builds freestanding, with gcc and clang, for each CPU, and needs nothing from
# anywhere. MATRIX=all (make soak): at every level with both, not only at one with each.
. test/tap.sh
. test/unit/kernel_build/common.sh

# build NAME COMPILER ARCH FLAGS…; with the drivers in $drivers, all if empty.
build() {
	name=$1 command=$(compiler_of "$2" "$3") for=$3
	sources=$(make -s ${drivers:+"KTRACE_TRANSPORTS=$drivers"} "transport-sources-$for")
	shift 3
	# shellcheck disable=SC2046,SC2086
	if ! $command -std=c11 -ffreestanding -nostdlib -static $c_warnings $(flags_of "$for") "$@" -Iinclude \
		"-Ikernel/arch/$for" -Wl,-e,kernel_main -Wl,--build-id=none -o "$tmp/program" \
		test/unit/kernel_build/sample.c $sources >"$tmp/log" 2>&1; then
		fail "$name" "$(head -n 20 "$tmp/log")"
	else
		equal "$name" "" "$(nm -u "$tmp/program" | head)"
	fi
}

drivers=
for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		case ${MATRIX-}-$compiler in
		all-*) levels='-O0 -O3' ;;
		*-gcc) levels=-O0 ;;
		*) levels=-O3 ;;
		esac
		for level in $levels; do
			build "$arch $compiler $level" $compiler $arch $level -fno-pie -no-pie
		done
		case ${MATRIX-}-$arch-$compiler in
		all-* | *-gcc | *-x86_64-clang)
			build "$arch $compiler PIE -flto" $compiler $arch -O2 -flto -fPIE -static-pie \
				-Wl,--no-dynamic-linker
			;;
		esac
	done
done

for drivers in debugcon uart16550 virtio-mmio virtio-pci ivshmem; do
	build "x86_64 gcc, only $drivers" gcc x86_64 -Os -fno-pie -no-pie
done

done_testing
