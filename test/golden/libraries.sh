# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Programs are linked with archives of libraries if these exist and are complete, otherwise with shared libraries.
# With STATIC=0 all libraries are shared.
. test/tap.sh

# words STATIC: prints the output of scripts/libraries.sh. The script uses a compiler that does not find the
# archives listed in $tmp/hidden.
cat >"$tmp/compiler" <<EOF
#!/bin/sh
case \$1 in
-print-file-name=*) ! grep -qxF "\${1#*=}" "$tmp/hidden" || exec echo "\${1#*=}" ;;
esac
exec gcc "\$@"
EOF
chmod +x "$tmp/compiler"
words() {
	sh scripts/libraries.sh link "$tmp/compiler" "$1" 2>"$tmp/messages" | tr '\n' ' '
}

# has NAME WORD TEXT: checks that TEXT contains the word. has_not NAME WORD TEXT: checks that TEXT does not
# contain it.
has() {
	case " $3" in *" $2 "*) pass "$1" ;; *) fail "$1" "no $2 in: $3" ;; esac
}
has_not() {
	case " $3" in *" $2 "*) fail "$1" "$2 is in: $3" ;; *) pass "$1" ;; esac
}

# needed FILE: prints the shared libraries that the program needs.
needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

: >"$tmp/hidden"
all=$(words 1)
cp "$tmp/messages" "$tmp/incomplete"
reported() { grep -qw "$1" "$tmp/incomplete"; }

if grep -q '^STATIC=0$' build/gen/libraries.asked; then
	skip "ktrace needs no library that has a complete archive" "built with STATIC=0"
else
	with_archive=
	for library in $(needed build/bin/ktrace); do
		case $library in libc.so.* | libm.so.* | ld-linux* | ld64.so.*) continue ;; esac
		reported "${library%%.so*}" || with_archive="$with_archive $library"
	done
	equal "ktrace needs no library that has a complete archive" "" "$with_archive"
fi

if reported libdw; then
	skip "by default libdw is an archive" "the archives of libdw and libelf on this machine are incomplete"
else
	has "by default libdw is an archive" -l:libdw.a "$all"
fi
has "an archive is followed by the libraries that it needs" -l:libstdc++.a "$all"
has_not "the C library stays shared" -l:libm.a "$all"

echo libbz2.a >"$tmp/hidden"
some=$(words 1)
has "without an archive that libdw.a needs, libdw is shared" -ldw "$some"
has "libelf is shared if libdw is, because they exchange data" -lelf "$some"
has_not "libelf is not also linked as an archive" -l:libelf.a "$some"
has "if libdw is shared, other libraries remain archives" -l:libzstd.a "$some"
equal "one line reports the libraries without an archive" "  LIBS  no complete archive of libdw libelf: linked as a shared library, which is fine on this machine" "$(grep libdw "$tmp/messages")"

# The linker finds this archive before the system's: it lacks the functions of other archives of libelf.
: >"$tmp/hidden"
mkdir "$tmp/folder"
echo 'void missing_function(void); void elf_begin(void); void elf_begin(void) { missing_function(); }' >"$tmp/part.c"
gcc -c -o "$tmp/part.o" "$tmp/part.c"
ar rcs "$tmp/folder/libelf.a" "$tmp/part.o"
sed -i "s,^exec gcc,exec gcc -L'$tmp/folder'," "$tmp/compiler"
some=$(words 1)
has "if the archive of libelf calls a function that no archive has, libelf is shared" -lelf "$some"
has_not "libdw is not an archive either" -l:libdw.a "$some"
sed -i "s,^exec gcc -L[^ ]*,exec gcc," "$tmp/compiler"

shared=$(words 0)
has "STATIC=0: libdw is shared" -ldw "$shared"
case $shared in *-l:*) fail "STATIC=0: no archive" "$shared" ;; *) pass "STATIC=0: no archive" ;; esac
check "STATIC=0: no line about archives" test ! -s "$tmp/messages"

printf '#include <libelf.h>\nint main(void)\n{\n\treturn elf_version(EV_CURRENT) == EV_NONE;\n}\n' >"$tmp/program.c"
for static in 0 1; do
	: >"$tmp/hidden"
	words $static >"$tmp/words"
	check "STATIC=$static: a program links" gcc -o "$tmp/program" "$tmp/program.c" "@$tmp/words"
	check "STATIC=$static: the program runs" "$tmp/program"
	equal "STATIC=$static: libelf is linked as intended" "$([ $static = 1 ] && ! reported libelf || echo libelf.so.1)" \
		"$(needed "$tmp/program" | grep libelf)"
done

# A rule that links must have the prerequisite HOST_LIBRARIES. Without it, the build fails, but only in an
# empty build directory; or a program is not linked again after STATIC has changed.
git ls-files Makefile '*.mk' | xargs awk '
	/^[^\t#]/ { rule = FNR; depends = 0 }
	/\$\(HOST_LIBRARIES\)/ { depends = rule }
	/^\t.*-o .*\$\(HOST_LDLIBS\)|^\t.*-o .*\$\(HOST_INPUTS\)/ && (depends != rule || !/HOST_INPUTS.*HOST_LDLIBS/) { print FILENAME ":" FNR }
' >"$tmp/rules"
check "rules that link depend on HOST_LIBRARIES and pass HOST_INPUTS: $(head -n 3 "$tmp/rules")" test ! -s "$tmp/rules"
done_testing
