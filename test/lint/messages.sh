# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Messages of the tools, as scripts/messages.sh provokes them: each begins with the command, each exit status is documented, and
# none has a phrase of words.list, an unfilled format or a raw control character.
. test/tap.sh

# form FILE: prints messages that do not have the form "ktrace COMMAND: what happened". Omits indented lines,
# which are lists of commands and formats after a message.
form() {
	awk '/^E>/ {
		text = substr($0, 3)
		if (text == "" || text ~ /^ / || text ~ /^usage: / || text ~ /^See .ktrace COMMAND --help/) next
		if (text !~ /^(ktrace( [a-z-]+)?|ktrace-decode|kdump|ktrdump|hwt): ./ || text ~ /[.!]$/ || text ~ /\(null\)|%[a-z]|[^: ]  / ||
			length(text) > 400) print text
	}' "$1"
}

# statuses FILE: prints "COMMAND STATUS" for each command whose output is in FILE.
statuses() {
	awk '/^\$ / { command = "ktrace"; for (n = 2; n < NF; n++) if ($n == "ktrace" && $(n + 1) ~ /^[a-z]/) { command = $(n + 1); break } }
		/^exit status [0-9]+$/ { print command, $3 }' "$1" | sort -u
}

cat >"$tmp/sample" <<'END'
$ ktrace show absent
E>ktrace show: absent: No such file or directory
exit status 1
$ ktrace sum | cat
E>no such command.
E>ktrace sum: (null)
exit status 99
END
equal "messages of another form would be found" "no such command. ktrace sum: (null)" "$(form "$tmp/sample" | xargs)"
equal "exit statuses would be found" "show 1 sum 99" "$(statuses "$tmp/sample" | xargs)"

MARK='E>' sh scripts/messages.sh >"$tmp/all" 2>"$tmp/err"
check "hundreds of messages are provoked" test "$(grep -ac '^E>' "$tmp/all")" -ge 300
check "the script itself has no errors: $(head -n 3 "$tmp/err")" test ! -s "$tmp/err"
form "$tmp/all" >"$tmp/odd"
check "each message begins with its command and is a single statement: $(head -n 3 "$tmp/odd")" test ! -s "$tmp/odd"
grep -v '^#' test/lint/words.list | cut -f 1 >"$tmp/patterns"
grep -a '^E>' "$tmp/all" | grep -aE -f "$tmp/patterns" >"$tmp/odd" || :
check "no riddles (what to write: words.list): $(head -n 3 "$tmp/odd")" test ! -s "$tmp/odd"

statuses "$tmp/all" | while read -r command status; do
	case $command in
	kdump) page=man/kdump.1 ;;
	ktrdump) page=man/ktrdump.8 ;;
	ktrace | frobnicate | shwo) page=man/ktrace.1 ;;
	*) page=man/ktrace-$command.1 ;;
	esac
	sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES\|^\.Sh SEE ALSO/p' "$page" | grep -qw -e "$status" || echo "$page: $status"
done >"$tmp/missing"
equal "each exit status is in the EXIT STATUS of its page" "" "$(xargs <"$tmp/missing")"
done_testing
