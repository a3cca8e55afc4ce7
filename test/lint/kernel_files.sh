# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A kernel may put the objects of kernel/ into one directory, may compile assembler by another rule than C, and
# has its own macros. Therefore base names are unique, each list of sources in a makefile has files of only
# one language, and macros have a prefix.
. test/tap.sh

# repeated: reads paths and prints the base names that occur more than once.
repeated() { sed 's|.*/||; s/\.[cS]$//' | sort | uniq -d | xargs; }

equal "a repeated base name is found" 'same' "$(printf 'a/same.c\nb/other.c\nc/same.S\n' | repeated)"
find kernel -type f -name '*.[cS]' >"$tmp/sources"
check "kernel/ has sources" test "$(wc -l <"$tmp/sources")" -gt 30
equal "base names in kernel/ are unique" '' "$(repeated <"$tmp/sources")"

# All lists of sources that ktrace.mk defines. Each source must be in one of these lists.
cat >"$tmp/lists.mk" <<'END'
KTRACE_ROOT := .
before := $(.VARIABLES)
include kernel/ktrace.mk
made := $(filter-out before,$(filter-out $(before),$(.VARIABLES)))
c := $(foreach list,$(filter KTRACE_%SOURCES KTRACE_%SOURCES_x86_64 KTRACE_%SOURCES_aarch64 KTRACE_%SOURCES_riscv64,$(made)) KTRACE_SOURCES,$($(list)))
asm := $(foreach list,$(filter KTRACE_%ASM_x86_64 KTRACE_%ASM_aarch64 KTRACE_%ASM_riscv64,$(made)),$($(list)))
all: ; @echo 'made $(made)'; echo 'c $(sort $(c))'; echo 'asm $(sort $(asm))'
.PHONY: all
END
make -s -f "$tmp/lists.mk" >"$tmp/lists"
check "the lists can be read" grep -q '^c kernel/' "$tmp/lists"
equal "lists of sources hold C only" '' "$(sed -n 's/^c //p' "$tmp/lists" | xargs -n 1 | grep -v '\.c$' | xargs)"
equal "lists of assembler hold assembler only" '' "$(sed -n 's/^asm //p' "$tmp/lists" | xargs -n 1 | grep -v '\.S$' | xargs)"
equal "each source is in a list" "$(sort "$tmp/sources" | xargs)" \
	"$(sed -n 's/^c //p; s/^asm //p' "$tmp/lists" | xargs -n 1 | sort | xargs)"
equal "names that ktrace.mk defines begin with KTRACE_ or ktrace_" '' \
	"$(sed -n 's/^made //p' "$tmp/lists" | xargs -n 1 | grep -vE '^(KTR[A-Z0-9]*(_|$)|ktrace_|USER_SYS_KTRACE_H$)' | xargs)"

# A kernel's port header includes the kernel's own macros in every source of ktrace. So ktrace's macros
# need a prefix (see test/unit/kernel_build/macros.sh).
git ls-files kernel 'include/ktr*' include/compat include/user | grep '\.[chS]$' |
	xargs grep -hoE '^[[:space:]]*#[[:space:]]*define[[:space:]]+[A-Za-z_0-9]+' | sed 's/.*[[:space:]]//' | sort -u >"$tmp/macros"
check "kernel/ and include/ have macros" test "$(wc -l <"$tmp/macros")" -gt 500
equal "macros begin with KTR" '' \
	"$(grep -vE '^(KTR[A-Z0-9]*(_|$)|ktrace_|USER_SYS_KTRACE_H$)' "$tmp/macros" | xargs)"
done_testing
