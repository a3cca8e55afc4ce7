#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
#	scripts/page_pictures.sh
#
# Makes the pictures of doc/gallery.md, in doc/images: pages of traces of the demo kernel, in Chromium. Needs
# build/bin/ktrace, build/bench/decode/gen_v1, the demo kernel for x86_64, and the package of `sh test/npm.sh viewer`.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
server= guest=
trap '[ -z "$server$guest" ] || kill $server $guest; wait; rm -rf "$tmp"' EXIT
ktrace=$PWD/build/bin/ktrace
many="debug=boot,sched,syscall,process,vfs,net,signal,mm,irq run=pipeline,echo,resolver"
mkdir -p doc/images

# page NAME CPUS ARGUMENTS: boots the demo kernel, and writes the page of its trace. Exit status 12 of
# ktrace run means that the timeout ended the guest.
page() {
	ACCEL=tcg "$ktrace" run --timeout 3 --out "$tmp/$1.ktrx" -- $(ACCEL=tcg sh scripts/qemu.sh x86_64 "$2") -append "$3" \
		>"$tmp/log" 2>&1 </dev/null || [ $? -eq 12 ]
	(cd "$tmp" && "$ktrace" html "$1.ktrx" -o "$1.html" 2>"$tmp/log")
}

# picture NAME PAGE KEY…: presses the keys, and takes the picture doc/images/NAME.png. PAGE may be an address.
picture() {
	picture_name=$1 picture_page=$2
	shift 2
	case $picture_page in http:*) ;; *) picture_page=$tmp/$picture_page.html ;; esac
	HOME=$tmp node test/viewer/picture.mjs build/test/viewer "$(command -v chromium)" "$picture_page" \
		"doc/images/$picture_name.png" "$@"
}

# served NAME OPTION… FILE -- KEY…: takes a picture of the page that `ktrace open` serves.
served() {
	served_name=$1
	shift
	served_words=
	while [ "$1" != -- ]; do
		served_words="$served_words $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	(cd "$tmp" && exec "$ktrace" open --no-browser $served_words 2>address) &
	server=$!
	until grep -qs http "$tmp/address"; do kill -0 $server && sleep 0.1; done
	picture "$served_name" "$(sed -n 's/.*\(http[^ ]*\).*/\1/p' "$tmp/address")" "$@"
	kill $server
	wait $server || :
	server=
	rm "$tmp/address"
}

page deadlock 2 run=abba
page programs 4 "$many slots=65536"
page losses 4 "$many slots=1024"
picture page deadlock
picture page-calls programs / f o r k Enter Escape f s s s s
picture page-flame programs 4
picture page-losses losses
picture page-event programs e e e
picture page-on-cpu programs t 3
build/bench/decode/gen_v1 "$tmp/long.ktrx" 8388608
served page-long long.ktrx -- wait 2
(ACCEL=tcg exec timeout 120 "$ktrace" run --timeout 100 --out "$tmp/live.ktrx" -- \
	$(ACCEL=tcg sh scripts/qemu.sh x86_64 2) -append "debug=boot,sched,irq,process run=forever slots=65536" >"$tmp/log" 2>&1 </dev/null) &
guest=$!
until "$ktrace" summary "$tmp"/live.ktrx.*.ram >"$tmp/out" 2>&1; do kill -0 $guest && sleep 0.5; done
sleep 3
served page-follow "$(cd "$tmp" && echo live.ktrx.*.ram)" -- Shift+F wait Shift+F 1
