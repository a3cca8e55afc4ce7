# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Every command and option of ktrace that README.md and doc/ name exists.
. test/tap.sh

printf '```\nktrace show --svg x.svg --nothing=1 -- --other\nktrace absent | ktrace why --json\n```\n`ktrace run --why`\n' >"$tmp/sample.md"
equal "commands and options in a document are found" "show, show --svg, show --nothing, absent, why, why --json, run, run --why" \
	"$(awk -f test/lint/commands.awk "$tmp/sample.md" | sed 's/^[^ ]* //' | paste -sd , | sed 's/,/, /g')"

awk -f test/lint/commands.awk ./*.md doc/*.md doc/howto/*.md kernel/*/README.md >"$tmp/named"
check "the documents name commands and options: $(wc -l <"$tmp/named")" test "$(grep -c ' --' "$tmp/named")" -ge 50
build/bin/ktrace --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' >"$tmp/commands"
while read -r command; do
	build/bin/ktrace "$command" --help | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u | sed "s/^/$command /"
	echo "$command"
done <"$tmp/commands" >"$tmp/known"
for page in $(cut -d ' ' -f 1 "$tmp/named" | sort -u); do
	grep -F "$page " "$tmp/named" | cut -d ' ' -f 2- | sort -u | grep -vxF -f "$tmp/known" >"$tmp/unknown" || :
	equal "$page names only commands and options that exist" '' "$(paste -sd , <"$tmp/unknown")"
done
done_testing
