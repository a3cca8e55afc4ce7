#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Installs the Debian packages that a make target needs and that are missing. Only this file lists them.
#
#	scripts/setup.sh host|demo ARCH|check|list
#
# If not run as root, prints what to install and fails. Prints nothing if nothing is missing. If the system is not
# Debian, prints all packages that are needed, and succeeds.
set -eu

host="gcc g++ make libc6-dev pkg-config libseccomp-dev libzstd-dev zlib1g-dev libelf-dev libdw-dev libbz2-dev libiberty-dev libjansson-dev libmd-dev libncurses-dev libsqlite3-dev libmicrohttpd-dev libipt-dev libopencsd-dev"
x86_64="qemu-system-x86"
aarch64="qemu-system-arm gcc-aarch64-linux-gnu"
riscv64="qemu-system-misc gcc-riscv64-linux-gnu"
check="clang lld llvm clang-format g++-aarch64-linux-gnu g++-riscv64-linux-gnu git libcmocka-dev mandoc file binutils zstd tmux strace curl gdb-multiarch libc6-dev-arm64-cross libc6-dev-riscv64-cross libcap2-bin procps python3 python3-jsonschema chromium babeltrace2 less"
# Commands, each with a Debian package. The package is installed only if the command is missing, because the
# command may have been installed in a different way.
check_commands="node:nodejs npm:npm"
# Rust with the sources of its core library, because the library is built from them for bare-metal targets.
rust="cargo rustc rust-src librust-compiler-builtins-dev"

case "${1-}" in
host) wanted=$host ;;
demo)
	case "${2-x86_64}" in
	x86_64) wanted="$host $x86_64" ;;
	aarch64) wanted="$host $aarch64" ;;
	riscv64) wanted="$host $riscv64" ;;
	*) echo "setup.sh: unknown architecture '$2' (x86_64, aarch64, riscv64)" >&2; exit 2 ;;
	esac ;;
check) wanted="$host $x86_64 $aarch64 $riscv64 $check" ;;
list) printf '%s\n' $host $x86_64 $aarch64 $riscv64 $check $rust $(printf '%s\n' $check_commands | cut -d: -f2); exit 0 ;;
*) echo "usage: setup.sh host|demo ARCH|check|list" >&2; exit 2 ;;
esac

if [ "$1" = check ]; then
	for command in $check_commands; do
		command -v "${command%%:*}" >/dev/null || wanted="$wanted ${command#*:}"
	done
	# A Rust toolchain that does not come from Debian often lacks the sources of the core library. Then
	# Debian's toolchain is installed as well.
	[ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/core" ] || wanted="$wanted $rust"
fi

if ! command -v dpkg-query >/dev/null; then
	echo "setup.sh: not a Debian system; the packages needed would be: $wanted" >&2
	exit 0
fi

# One query for all packages takes a twentieth of the time of one query for each package.
installed=$(dpkg-query -W -f ' ${Package}:${Status}:\n' $wanted 2>/dev/null || true)
missing=
for package in $wanted; do
	case $installed in
	*" $package:install ok installed:"*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "These packages are missing. As root:" >&2
	echo "	apt-get update && apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
echo "Installing (some minutes, without output):$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends $missing >/dev/null
