#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
#	scripts/page_pictures.sh
#
# Makes the pictures of doc/gallery.md, in doc/images: pages of traces of the demo kernel, in Chromium. Needs
# build/bin/ktrace, the demo kernel for x86_64, and the package of `sh test/npm.sh viewer`.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ktrace=$PWD/build/bin/ktrace
many="debug=boot,sched,syscall,process,vfs,net,signal,mm,irq run=pipeline,echo,resolver"
mkdir -p doc/images

# page NAME CPUS ARGUMENTS: boots the demo kernel, and writes the page of its trace. Status 12: the time is over.
page() {
	ACCEL=tcg "$ktrace" run --timeout 3 --out "$tmp/$1.ktrx" -- $(ACCEL=tcg sh scripts/qemu.sh x86_64 "$2") -append "$3" \
		>"$tmp/log" 2>&1 </dev/null || [ $? -eq 12 ]
	(cd "$tmp" && "$ktrace" html "$1.ktrx" -o "$1.html" 2>"$tmp/log")
}

# picture NAME PAGE KEY…: presses the keys, and takes the picture doc/images/NAME.png.
picture() {
	picture_name=$1 picture_page=$2
	shift 2
	HOME=$tmp node test/viewer/picture.mjs build/test/viewer "$(command -v chromium)" "$tmp/$picture_page.html" \
		"doc/images/$picture_name.png" "$@"
}

page deadlock 2 run=abba
page programs 4 "$many slots=65536"
page losses 4 "$many slots=1024"
picture page deadlock
picture page-calls programs / f o r k Enter Escape f s s s s
picture page-flame programs 4
picture page-losses losses
