# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# User programs and other initial files of the file system: $(DEMO_USER_OUT)/<arch>/root. Included by demo.mk, which
# packs them.

USER_TOOLS := $(patsubst demo/user/tools/%.c,%,$(sort $(wildcard demo/user/tools/*.c)))
USER_PROGRAMS := $(patsubst demo/user/programs/%.c,%,$(sort $(wildcard demo/user/programs/*.c)))
USER_BUGS := $(patsubst demo/user/bugs/%.c,%,$(sort $(wildcard demo/user/bugs/*.c))) # programs that never end

# Programs for tests of hardware trace. They are linked to addresses that no other program uses, and keep
# their symbols.
USER_SUBJECTS := $(patsubst demo/user/subjects/%.c,%,$(sort $(wildcard demo/user/subjects/*.c)))
USER_SUBJECT_START := 0x1800000000

USER_HWT := $(sort $(wildcard demo/user/hwt/*.c)) # parts of the tools hwt and kdump
USER_KDUMP := $(sort $(wildcard demo/user/kdump/*.c))

# Sources of the programs' library, including two files of the kernel that use nothing else of the kernel.
USER_LIB := $(sort $(wildcard demo/user/lib/*.c)) demo/kern/string.c demo/kern/format.c

# Programs have no debug information: the linker would remove it.
# Programs are linked to addresses above 2 GiB. Therefore code for x86_64 must be position-independent.
USER_CFLAGS_x86_64 := -fpie
USER_CFLAGS_aarch64 :=
USER_CFLAGS_riscv64 :=

USER_LDFLAGS_x86_64 := -m64 -Wl,--no-relax # keeps entries of the global offset table, which hold addresses beyond 32 bits
USER_LDFLAGS_aarch64 :=
USER_LDFLAGS_riscv64 := -march=rv64imac -mabi=lp64

# $(call user_rules,<arch>)
define user_rules
USER_OUT_$(1) := $(DEMO_USER_OUT)/$(1)/user
USER_ROOT_$(1) := $(DEMO_USER_OUT)/$(1)/root
USER_COMPILE_$(1) = $$(DEMO_CC_$(1)) -O2 $$(DEMO_CFLAGS) $$(DEMO_CFLAGS_$(1)) $$(USER_CFLAGS_$(1)) \
	-Idemo/abi -Iinclude -Iinclude/user -Idemo/user/include -Idemo/user/lib -Idemo/user/arch/$(1)
USER_LIB_OBJS_$(1) := $$(patsubst %,$$(USER_OUT_$(1))/%.o,demo/user/arch/$(1)/start.S $$(USER_LIB))
USER_OBJS_$(1) := $$(USER_LIB_OBJS_$(1)) \
	$$(USER_TOOLS:%=$$(USER_OUT_$(1))/demo/user/tools/%.c.o) \
	$$(USER_PROGRAMS:%=$$(USER_OUT_$(1))/demo/user/programs/%.c.o) \
	$$(USER_BUGS:%=$$(USER_OUT_$(1))/demo/user/bugs/%.c.o) \
	$$(USER_SUBJECTS:%=$$(USER_OUT_$(1))/demo/user/subjects/%.c.o) \
	$$(USER_HWT:%=$$(USER_OUT_$(1))/%.o) $$(USER_KDUMP:%=$$(USER_OUT_$(1))/%.o)
USER_LINK_$(1) = $$(DEMO_CC_$(1)) -nostdlib -static $$(USER_LDFLAGS_$(1)) -Wl,-z,max-page-size=4096 \
	-Wl,-z,noexecstack -Wl,--build-id=none -T demo/user/user.ld

USER_BIN_$(1) := $$(addprefix $$(USER_ROOT_$(1))/bin/,$$(USER_TOOLS) $$(USER_PROGRAMS) $$(USER_BUGS) $$(USER_SUBJECTS))
USER_NAMES_$(1) := -Wl,-s

DEMO_ROOT_$(1) := $$(USER_BIN_$(1)) \
	$$(patsubst demo/user/%,$$(USER_ROOT_$(1))/%,$$(wildcard demo/user/etc/*)) $$(USER_OUT_$(1))/folders

# The file "flags" contains the compile command. It is rewritten only if the command has changed.
$$(USER_OUT_$(1))/flags: demo-always
	@mkdir -p $$(@D)
	@echo '$$(USER_COMPILE_$(1))' | cmp -s - $$@ || echo '$$(USER_COMPILE_$(1))' > $$@

$$(USER_OUT_$(1))/%.o: % $$(USER_OUT_$(1))/flags demo/user/user.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(USER_COMPILE_$(1)) -MMD -MP -c -o $$@ $$<

$$(USER_TOOLS:%=$$(USER_ROOT_$(1))/bin/%): $$(USER_ROOT_$(1))/bin/%: $$(USER_OUT_$(1))/demo/user/tools/%.c.o
$$(USER_PROGRAMS:%=$$(USER_ROOT_$(1))/bin/%): $$(USER_ROOT_$(1))/bin/%: $$(USER_OUT_$(1))/demo/user/programs/%.c.o
$$(USER_BUGS:%=$$(USER_ROOT_$(1))/bin/%): $$(USER_ROOT_$(1))/bin/%: $$(USER_OUT_$(1))/demo/user/bugs/%.c.o
$$(USER_ROOT_$(1))/bin/hwt: $$(USER_HWT:%=$$(USER_OUT_$(1))/%.o)
$$(USER_ROOT_$(1))/bin/kdump: $$(USER_KDUMP:%=$$(USER_OUT_$(1))/%.o)
$$(USER_SUBJECTS:%=$$(USER_ROOT_$(1))/bin/%): $$(USER_ROOT_$(1))/bin/%: $$(USER_OUT_$(1))/demo/user/subjects/%.c.o
$$(USER_SUBJECTS:%=$$(USER_ROOT_$(1))/bin/%): USER_NAMES_$(1) := -Wl,-S -Wl,--defsym=USER_START=$$(USER_SUBJECT_START)
$$(USER_BIN_$(1)): $$(USER_LIB_OBJS_$(1)) demo/user/user.ld
	@mkdir -p $$(@D)
	@echo "  LD    $$@"
	@$$(USER_LINK_$(1)) $$(USER_NAMES_$(1)) -o $$@ $$(filter %.o,$$^)

$$(USER_ROOT_$(1))/etc/%: demo/user/etc/%
	@mkdir -p $$(@D)
	@cp $$< $$@

# Creates the empty directories /dev and /tmp of the file system.
$$(USER_OUT_$(1))/folders:
	@mkdir -p $$(@D) $$(USER_ROOT_$(1))/dev $$(USER_ROOT_$(1))/tmp
	@touch $$@

-include $$(USER_OBJS_$(1):.o=.d)
endef

$(foreach arch,$(DEMO_ARCHES),$(eval $(call user_rules,$(arch))))
