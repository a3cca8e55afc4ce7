# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: Markdown pages. Prints "PAGE COMMAND OPTION" for each long option of a ktrace command in a block of
# code or in backticks, and "PAGE COMMAND" for each command. A command ends at "--", "|", ";", "&" or "#".
function look(text, word, count, i, command)
{
	gsub(/\\\|/, "|", text)
	count = split(text, word, /[ \t]+/)
	for (i = 1; i <= count; i++) {
		if (command == "" && word[i] ~ /^(build\/bin\/)?ktrace$/ && word[i + 1] ~ /^[a-z][a-z-]+$/) {
			command = word[++i]
			print FILENAME, command
		} else if (word[i] ~ /^(--|[|;&#].*)$/) {
			command = ""
		} else if (command != "" && word[i] ~ /^--[a-z]/) {
			sub(/[^a-z0-9-].*/, "", word[i])
			print FILENAME, command, word[i]
		}
	}
}

FNR == 1 { block = output = 0 }
# A code block that shows output contains no commands. The comment before the block contains the
# command that printed it.
/^<!-- output: / { look($0); output = 1; next }
/^ *```/ { block = !block; if (!block) output = 0; next }
block && output { next }
block || /^    / { look($0); next }
{
	line = $0
	while (match(line, /`[^`]+`/)) {
		look(substr(line, RSTART + 1, RLENGTH - 2))
		line = substr(line, RSTART + RLENGTH)
	}
}
