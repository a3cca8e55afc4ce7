#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Lists the libraries of the host tools; no other file lists them.
#
#	scripts/libraries.sh cflags            prints the compiler flags for their headers
#	scripts/libraries.sh link COMPILER STATIC
#
# link prints the linker arguments for a program, for a response file of the compiler. Unless STATIC is 0, they name
# static archives. A library without a complete archive is linked shared, and a line on stderr names it.
set -eu

# Packages of pkg-config. Packages joined by a comma exchange data structures. So either all of them are
# linked as archives, or all of them as shared libraries.
packages="libzstd zlib libdw,libelf libseccomp ncursesw jansson libmd sqlite3 libmicrohttpd"
# Libraries without a pkg-config package, and their headers. needs() prints the other libraries that the
# archive of a library needs.
others="ipt opencsd_c_api iberty"
headers="intel-pt.h opencsd/c_api/opencsd_c_api.h libiberty/demangle.h"
needs() {
	case $1 in
	opencsd_c_api) echo -lopencsd -lstdc++ ;; # is C++
	esac
}

# archives_of PACKAGE…: prints the linker arguments for the archives of packages. Debian's libmicrohttpd can also
# serve TLS with GnuTLS, which has no complete set of archives, and which takes 1.5 ms at each start of a program.
# ktrace does not use TLS, so no_tls.o (host/host.mk) takes the place of GnuTLS.
archives_of() {
	case $* in
	libmicrohttpd) echo -lmicrohttpd build/gen/no_tls.o ;;
	*) pkg-config --static --libs "$@" ;;
	esac
}

# Ends the script if a header or a package of pkg-config is missing.
require() {
	# shellcheck disable=SC2046,SC2086
	if ! pkg-config --exists --print-errors $(echo $packages | tr , ' ') ||
		! printf '#include <%s>\n' $headers | $compiler -E -x c - >/dev/null; then
		echo 'ktrace: libraries are missing. On Debian, as root: sh scripts/setup.sh host' >&2
		exit 1
	fi
}

# has_archive NAME DIRECTORY…: succeeds if the compiler finds libNAME.a, or one of the directories contains it.
has_archive() {
	archive=lib$1.a
	shift
	case $($compiler -print-file-name="$archive") in
	*/*) return 0 ;;
	esac
	for folder; do
		[ ! -f "$folder/$archive" ] || return 0
	done
	return 1
}

# archives WORD…: prints linker arguments, with the archive libNAME.a instead of each -lNAME. Fails if an
# archive is missing. The libraries of glibc (-lc, -lm, …) stay shared.
archives() {
	folders=
	for word; do
		case $word in
		-L*) folders="$folders ${word#-L}" ;;
		esac
	done
	for word; do
		case $word in
		-lc | -lm | -ldl | -lpthread | -lrt) echo "$word" ;;
		-l*)
			# shellcheck disable=SC2086
			has_archive "${word#-l}" $folders || return 1
			echo "-l:lib${word#-l}.a"
			;;
		*) echo "$word" ;;
		esac
	done
}

# complete ARGUMENT…: succeeds if a program that contains all of these archives can be linked. Debian 13's libelf.a
# and libdw.a call functions that no archive has. Two archives may define the same function, as libz.a and libelf.a do.
complete() {
	echo 'int main(void) { return 0; }' | $compiler -static-libgcc -o "$scratch" -x c - -x none \
		-Wl,-z,muldefs -Wl,--whole-archive "$@" -Wl,--no-whole-archive -lm -pthread 2>/dev/null
}

# add NAME "SHARED" "ARCHIVES": prints linker arguments for the library NAME: "ARCHIVES" with archives if all
# of them exist and are complete, otherwise "SHARED".
add() {
	# shellcheck disable=SC2086
	if [ "$static" = 0 ]; then
		echo $2
	elif found=$(archives $3) && complete $found; then
		echo $found
	else
		echo $2
		echo "  LIBS  no complete archive of $1: linked as a shared library, which is fine on this machine" >&2
	fi
}

case "${1-} $#" in
"cflags 1")
	# shellcheck disable=SC2046
	pkg-config --cflags $(echo "$packages" | tr , ' ')
	;;
"link 3")
	compiler=$2 static=$3
	require
	scratch=$(mktemp "${TMPDIR:-/tmp}/ktrace-libraries.XXXXXX")
	trap 'rm -f "$scratch"' EXIT
	echo -Wl,--as-needed
	# The C++ library's archive needs libgcc, which would be a shared library without this option.
	[ "$static" = 0 ] || echo -static-libgcc
	for package in $packages; do
		joined=$(echo "$package" | tr , ' ')
		# shellcheck disable=SC2086
		add "$joined" "$(pkg-config --libs $joined)" "$(archives_of $joined)"
	done
	for name in $others; do
		add "lib$name" "-l$name" "-l$name $(needs "$name")"
	done
	echo -lm -pthread
	;;
*)
	echo "usage: libraries.sh cflags|link COMPILER STATIC" >&2
	exit 2
	;;
esac
