#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that the headers are valid C++17, with the sample kernel, built in and left out.
. test/tap.sh
. test/unit/kernel_build/common.sh

for arch in x86_64 aarch64 riscv64; do
	for compiler in g++ clang++; do
		case $compiler-$arch in
		g++-x86_64) command=g++ ;;
		g++-*) command=$arch-linux-gnu-g++ ;;
		*) command="clang++ --target=$arch-linux-gnu" ;;
		esac
		command -v "${command%% *}" >/dev/null || {
			skip "$arch $compiler" "not installed"
			continue
		}
		for out in '' -DKTRACE_DISABLE=1; do
			# shellcheck disable=SC2046,SC2086
			check "$arch $compiler $out" $command -x c++ -std=c++17 -O2 -ffreestanding -fno-exceptions \
				-fno-rtti $warnings $(flags_of $arch) $out -Iinclude -Ikernel/arch/$arch \
				-c test/unit/kernel_build/sample.c -o "$tmp/sample.o"
			check "$arch $compiler $out hooks" $command -x c++ -std=c++17 -O2 -ffreestanding -fno-exceptions \
				-fno-rtti $warnings $(flags_of $arch) $out -Iinclude -Ikernel/arch/$arch \
				-c test/unit/kernel_build/hooks.c -o "$tmp/hooks.o"
			check "$arch $compiler $out facts" $command -x c++ -std=c++17 -O2 -ffreestanding -fno-exceptions \
				-fno-rtti $warnings $(flags_of $arch) $out -Iinclude -Ikernel/arch/$arch \
				-c test/unit/kernel_build/facts.c -o "$tmp/facts.o"
			check "$arch $compiler $out process traces" $command -x c++ -std=c++17 -O2 -ffreestanding \
				-fno-exceptions -fno-rtti $warnings $(flags_of $arch) $out -Iinclude \
				-Ikernel/arch/$arch -c test/unit/kernel_build/proc.c -o "$tmp/proc.o"
			check "$arch $compiler $out hardware trace" $command -x c++ -std=c++17 -O2 -ffreestanding \
				-fno-exceptions -fno-rtti $warnings $(flags_of $arch) $out -Iinclude \
				-Ikernel/arch/$arch -c test/unit/kernel_build/hwt.c -o "$tmp/hwt.o"
		done
	done
done

done_testing
