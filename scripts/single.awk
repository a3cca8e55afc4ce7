# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Joins the kernel library into one file: awk -f scripts/single.awk -v known=LIST HEAD FILE…
#
# Prints HEAD, then each FILE. The first #include of a project file is replaced by the file's text; later ones are dropped.
# LIST is a file with the names of all files included so far, one a line. This script appends to it.
# The headers of all three CPUs are included, each inside an #if that tests the compiler's macro.

function folder(file) { sub(/[^\/]*$/, "", file); return file }

# Returns the path with each "NAME/../" removed.
function plain(path) {
	while (sub(/[^\/]+\/\.\.\//, "", path))
		;
	return path
}

function exists(file,    line, found) {
	found = (getline line < file) >= 0
	close(file)
	return found
}

function join_cpus(    n, count, cpus, macros) {
	count = split("x86_64 aarch64 riscv64", cpus)
	split("__x86_64__ __aarch64__ __riscv", macros)
	for (n = 1; n <= count; n++) {
		print (n == 1 ? "#if" : "#elif") " defined(" macros[n] ")"
		join("kernel/arch/" cpus[n] "/ktrace_arch.h")
	}
	print "#endif"
	join("kernel/arch/generic/ktrace_arch.h")
}

# Prints the text that replaces an #include line. `from` is the file that contains the line.
function take(line, from,    name) {
	name = line
	sub(/^[^"<]*["<]/, "", name)
	sub(/[">].*/, "", name)
	if (line ~ /</) {
		if (!(name in included))
			print line
		note(name)
	} else if (name == "ktrace_port.h") {
		print line
	} else if (name == "ktrace_arch.h") {
		join_cpus()
	} else if (name !~ /generic\/ktrace_arch\.h$/) {
		join(exists(folder(from) name) ? plain(folder(from) name) : "include/" name)
	}
}

function note(name) {
	if (!(name in included))
		print name >> known
	included[name] = 1
}

function join(file,    line, found) {
	if (file in included)
		return
	note(file)
	print "\n/* ---- " file " ---- */"
	while ((found = (getline line < file)) > 0)
		if (line ~ /^[ \t]*#[ \t]*include[ \t]/)
			take(line, file)
		else if (line !~ /SPDX-License-Identifier/)
			print line
	close(file)
	if (found < 0) {
		print "single.awk: " file ": cannot be read" > "/dev/stderr"
		failed = 1
		exit
	}
}

BEGIN {
	while ((getline name < known) > 0)
		included[name] = 1
	close(known)
	while ((getline line < ARGV[1]) > 0)
		print line
	for (n = 2; n < ARGC; n++)
		join(ARGV[n])
	exit
}

END { exit failed }
