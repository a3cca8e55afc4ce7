# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The commands of doc/questions.md print what the page says. Runs all blocks of the page in one shell, as a
# reader would, in a directory that contains links to build/ and test/. UPDATE=1 writes the outputs into the page.
. test/tap.sh

page=doc/questions.md

# commands DIRECTORY: reads a page. Prints its ```sh blocks as a script, which writes the standard output of
# block N to FOLDER/N.
commands() {
	awk -v folder="$1" '
	/^```sh$/ { print "{"; inside = 1; next }
	/^```$/ && inside { print "} >" folder "/" ++blocks " 2>" folder "/" blocks ".messages"; inside = 0; next }
	inside'
}

# with_outputs DIRECTORY: reads a page. Prints it with the files of DIRECTORY as ```text blocks. Each ```text block
# belongs to the ```sh block before it.
with_outputs() {
	awk -v folder="$1" '
	/^```sh$/ { blocks++ }
	/^```$/ { inside = 0 }
	!inside
	/^```text$/ { inside = 1; while ((getline line <(folder "/" blocks)) > 0) print line }'
}

# follow PAGE DIRECTORY: runs the commands of a page in DIRECTORY. Prints the page with the outputs of
# these commands.
follow() {
	mkdir -p "$2/outputs"
	ln -s "$PWD/build" "$PWD/test" "$2"
	commands "$2/outputs" <"$1" >"$2/commands"
	(cd "$2" && sh commands </dev/null)
	with_outputs "$2/outputs" <"$1"
}

# ---- Tests of this check -----------------------------------------------------------------------------
printf '```sh\nmkdir a\ncd a\n```\n\n```sh\npwd | sed "s|.*/||"\n```\n```text\n%s\n```\nend\n' wrong >"$tmp/sample"
printf '```sh\nmkdir a\ncd a\n```\n\n```sh\npwd | sed "s|.*/||"\n```\n```text\n%s\n```\nend\n' a >"$tmp/expected"
follow "$tmp/sample" "$tmp/sample-folder" >"$tmp/found"
same "a wrong output is replaced by the right one" "$tmp/expected" "$tmp/found"

# ---- The page -------------------------------------------------------------------------------------
follow "$page" "$tmp/folder" >"$tmp/page"
[ -z "${UPDATE-}" ] || cp "$tmp/page" "$page"
same "the output of the commands is that of the page (after an intended change: UPDATE=1)" "$page" "$tmp/page"

questions=$(grep -c '^### ' "$page")
equal "there are twenty questions" 20 "$questions"
equal "each question has a command" "$((questions + 1))" "$(grep -c '^```sh$' "$page")"
equal "each question has an output" "$questions" "$(grep -c '^```text$' "$page")"
for n in $(seq 2 $((questions + 1))); do
	lines=$(wc -l <"$tmp/folder/outputs/$n")
	[ "$lines" -ge 1 ] && [ "$lines" -le 14 ] || echo "command $n prints $lines lines: $(cat "$tmp/folder/outputs/$n.messages")"
done >"$tmp/sizes"
check "each command prints 1 to 14 lines: $(head -n 3 "$tmp/sizes")" test ! -s "$tmp/sizes"
done_testing
