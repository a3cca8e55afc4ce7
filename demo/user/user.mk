# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# User programs: $(DEMO_USER_OUT)/<arch>/root, what lies in the file system at boot. Part of demo.mk, which packs it.

USER_TOOLS := $(patsubst demo/user/tools/%.c,%,$(sort $(wildcard demo/user/tools/*.c)))
USER_PROGRAMS := $(patsubst demo/user/programs/%.c,%,$(sort $(wildcard demo/user/programs/*.c)))
USER_BUGS := $(patsubst demo/user/bugs/%.c,%,$(sort $(wildcard demo/user/bugs/*.c))) # programs that never end

# Programs to be traced: what they run lies where no other program has anything, and they keep the names of their functions.
USER_SUBJECTS := $(patsubst demo/user/subjects/%.c,%,$(sort $(wildcard demo/user/subjects/*.c)))
USER_SUBJECT_START := 0x1800000000

USER_HWT := $(sort $(wildcard demo/user/hwt/*.c)) # parts of the tools of these names
USER_KDUMP := $(sort $(wildcard demo/user/kdump/*.c))

# The library, and the two files of the kernel that need nothing of it.
USER_LIB := $(sort $(wildcard demo/user/lib/*.c)) demo/kern/string.c demo/kern/format.c

# Addresses above 2 GiB: code must be relative to the program counter.
USER_CFLAGS_x86_64 := -fpie
USER_CFLAGS_aarch64 :=
USER_CFLAGS_riscv64 :=

USER_LDFLAGS_x86_64 := -m64 -Wl,--no-relax # entries of the offset table stay: they hold what is too far for less
USER_LDFLAGS_aarch64 :=
USER_LDFLAGS_riscv64 := -march=rv64imac -mabi=lp64

# $(call user_rules,<arch>)
define user_rules
USER_OUT_$(1) := $(DEMO_USER_OUT)/$(1)/user
USER_ROOT_$(1) := $(DEMO_USER_OUT)/$(1)/root
USER_COMPILE_$(1) = $$(DEMO_CC_$(1)) $$(DEMO_CFLAGS) $$(DEMO_CFLAGS_$(1)) $$(USER_CFLAGS_$(1)) \
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

# Changes when the compiler or its flags do.
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

# Where devices and what programs write will be.
$$(USER_OUT_$(1))/folders:
	@mkdir -p $$(@D) $$(USER_ROOT_$(1))/dev $$(USER_ROOT_$(1))/tmp
	@touch $$@

-include $$(USER_OBJS_$(1):.o=.d)
endef

$(foreach arch,$(DEMO_ARCHES),$(eval $(call user_rules,$(arch))))
