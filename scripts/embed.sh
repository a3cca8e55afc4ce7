#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Updates output in documents. After a line
#	<!-- output: COMMAND -->
# the fenced block is replaced by the output of COMMAND, run in the project's root with build/bin in PATH.
# usage: scripts/embed.sh FILE…
set -eu
PATH=$PWD/build/bin:$PATH
for file; do
	new=$(mktemp)
	state=text
	while IFS= read -r line || [ -n "$line" ]; do
		case $state:$line in
		text:'<!-- output: '*' -->')
			command=${line#'<!-- output: '}
			command=${command%' -->'}
			printf '%s\n' "$line" >>"$new"
			state=wait ;;
		wait:'```'*)
			printf '%s\n' "$line" >>"$new"
			env -u MAKEFLAGS -u MFLAGS sh -c "$command" >>"$new" 2>&1 </dev/null || echo "embed.sh: failed: $command" >&2
			state=skip ;;
		skip:'```')
			printf '%s\n' "$line" >>"$new"
			state=text ;;
		skip:*) ;;
		*) printf '%s\n' "$line" >>"$new" ;;
		esac
	done <"$file"
	cat "$new" >"$file"
	rm -f "$new"
done
