# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Reads "MODE PATH" lines of the tracked files first, then makefiles and shell scripts. Prints "FILE:LINE:
# PATH" for each tracked file without the execute bit that a line runs directly. A file that an interpreter
# runs (sh PATH) needs no bit.
#
#	awk -f runnable.awk MODES FILE…

FNR == NR { if ($2 !~ /\.[chS]$/) mode[$2] = $1; next } # C sources are never run
FNR == 1 { pending = "" }

{
	if (pending == "")
		first = FNR
	text = pending $0
	pending = ""
}
text ~ /\\$/ { pending = substr(text, 1, length(text) - 1) " "; next }
text ~ /^[ \t]*#/ { next }

function is_wrapper(word) {
	return word ~ /^(exec|env|nohup|setsid|nice|time|timeout|if|then|else|elif|while|until|do|!|strace|xargs)$/
}

# A command begins at the start of a line, in a script or a recipe, and after a separator of commands.
{
	is_make = FILENAME ~ /(\.mk|Makefile)$/
	runs = is_make && text ~ /^[A-Z_]*_RUNS[ \t]*[:+]?=/
	line = text
	if (runs)
		sub(/^[A-Z_]*_RUNS[ \t]*[:+]?=/, "", line)
	command = !is_make || text ~ /^\t/ || runs
	wrapped = 0
	if (is_make && !command && !sub(/^.*\$\(shell /, "; ", line))
		next # a list of file names, not a command
	gsub(/"\$PWD"\/|\$PWD\/|\$\(CURDIR\)\//, "", line)
	gsub(/&&|\|\||[;&|(){}`]/, " ; ", line)
	gsub(/["']/, " ", line)
	count = split(line, words, /[ \t]+/)
	for (n = 1; n <= count; n++) {
		word = words[n]
		if (n <= 2 && is_make)
			sub(/^[@+-]+/, "", word)
		if (word == "")
			continue
		if (word == ";") {
			command = 1
			wrapped = 0
			continue
		}
		sub(/^\.\//, "", word)
		if (command && word in mode && mode[word] != "100755")
			print FILENAME ":" first ": " word
		if (is_wrapper(word))
			command = wrapped = 1
		else if (!runs)
			command = command && (word ~ /^[A-Za-z_][A-Za-z_0-9]*=/ || (wrapped && word ~ /^(-|[0-9])/))
	}
}
