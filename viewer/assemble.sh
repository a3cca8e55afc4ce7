#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
#	viewer/assemble.sh >build/gen/page.html
#
# Joins the files of this directory into one page: page.html with the style and, in the order of files.list, the
# scripts. The page's policy allows only this style and this script, by their SHA-256. The line <!--data--> stays:
# ktrace html replaces it with the data.
set -eu
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# source FILE…: prints the files without their licence lines, which the page has at its beginning.
source() {
	cat "$@" | sed -e '/SPDX-License-Identifier/d' -e 's/^[\t ]*//' -e '/^\/\/ /d'
}

# digest FILE: prints the SHA-256 of the file in base64, as a policy needs it.
digest() {
	# shellcheck disable=SC2059
	printf "$(sha256sum "$1" | cut -d' ' -f1 | fold -w2 | awk '
		function value(digit) { return index("0123456789abcdef", digit) - 1 }
		{ printf "\\%03o", value(substr($1, 1, 1)) * 16 + value(substr($1, 2, 1)) }')" | base64
}

printf '\n' >"$tmp/style"
source "$here/page.css" >>"$tmp/style"
printf '\n' >"$tmp/script"
# shellcheck disable=SC2046
source $(sed "s|^|$here/|" "$here/files.list") >>"$tmp/script"

policy="default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'"
policy="$policy; style-src 'sha256-$(digest "$tmp/style")'; script-src 'sha256-$(digest "$tmp/script")'"
awk -v style="$tmp/style" -v script="$tmp/script" -v policy="$policy" '
	function paste(file,    line) {
		while ((getline line <file) > 0)
			print line
		close(file)
	}
	/@style@/ || /@script@/ {
		split($0, part, /@[a-z]*@/)
		printf "%s", part[1]
		paste(/@style@/ ? style : script)
		print part[2]
		next
	}
	{ sub(/@policy@/, policy); print }' "$here/page.html"
