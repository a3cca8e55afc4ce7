# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The demo kernel: $(DEMO_OUT)/<arch>/kernel.elf for each of DEMO_ARCHES.
#
# Part of the top-level Makefile; also works alone: make -f demo/demo.mk demo-x86_64
ifndef KTRACE_SOURCES
include kernel/ktrace.mk
endif

DEMO_ARCHES := x86_64 aarch64 riscv64
DEMO_OUT ?= build/demo
# Output directory of the user programs. A build of the demo kernel that differs only in its events or clocks
# may use the user programs of another build.
DEMO_USER_OUT ?= $(DEMO_OUT)

# Sources of the portable kernel, the same for every architecture.
DEMO_SRCS := $(sort $(wildcard demo/kern/*.c demo/kern/*.S demo/kern/net/*.c demo/kern/work/*.c demo/kern/bug/*.c))

# The initial contents of the file system: $(DEMO_USER_OUT)/<arch>/root, packed into an archive that is linked
# into the kernel. A makefile that adds files to root must list them in DEMO_ROOT_<arch>, and must be included
# before the rules below.
DEMO_TAR ?= tar
DEMO_TAR_FLAGS := --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u+rwX,go+rX,go-w

# For the kernel only. Tests that need no fast kernel use -O1, which compiles in 60 % of the time. User programs
# do not use it, because kernels in different DEMO_OUT directories may share the programs of one DEMO_USER_OUT.
DEMO_OPTIMISE ?= -O2 -g
DEMO_CFLAGS := -std=c11 -ffreestanding -fno-pic -fno-stack-protector -fno-omit-frame-pointer \
	-DKTRACE_FRAME_POINTERS=1 -fno-asynchronous-unwind-tables -fno-common -Wall -Wextra -Werror \
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
DEMO_LDFLAGS := -nostdlib -static -Wl,--build-id=sha1 -Wl,-z,noexecstack -Wl,-z,max-page-size=4096

# FEATURES=ktrace-sched,ktrace-net compiles only these groups of events into the kernel. The word ktrace alone
# means all groups, like ktrace-all. If the list also has names of groups, the word ktrace has no effect.
FEATURES ?= ktrace-all
DEMO_COMMA := ,
DEMO_FEATURES := $(subst $(DEMO_COMMA), ,$(FEATURES))
DEMO_FEATURES := $(or $(filter-out ktrace,$(DEMO_FEATURES)),ktrace-all)
# Names of all groups: those of the events that the demo declares, and those of the events in ktrace/facts.h.
ifneq ($(DEMO_FEATURES),ktrace-all)
DEMO_FACT_GROUPS := $(shell sed -n 's/^KTRACE_FACT_DESCRIPTOR[^"]*"\([a-z]*\).*/\1/p' include/ktrace/facts.h)
DEMO_GROUPS := $(sort $(shell grep -rhoE 'KTRACE_EVENT[A-Z0-9_]*.[A-Z0-9_, ]*[a-z0-9_]+' demo/kern demo/arch | \
	sed 's/.*[^a-z0-9_]//') $(DEMO_FACT_GROUPS) text)
DEMO_UNKNOWN := $(filter-out ktrace-all $(DEMO_GROUPS:%=ktrace-%),$(DEMO_FEATURES))
ifneq ($(DEMO_UNKNOWN),)
# $(call demo_near,<name>): the groups whose names are most similar to <name>. $(call demo_mean,<names>): "did
# you mean <names>?"
demo_near = $(shell printf '%s\n' $(DEMO_GROUPS:%=ktrace-%) | awk -v wanted='$(1)' -v prefix=ktrace- -f scripts/suggest.awk)
demo_mean = $(if $(1),; did you mean $(1)?,.)
$(error FEATURES: $(foreach name,$(DEMO_UNKNOWN),$(name): no such group of events$(call demo_mean,$(call demo_near,$(name)))) \
	There are $(DEMO_GROUPS:%=ktrace-%))
endif
endif
DEMO_FEATURE_FLAGS := $(if $(filter ktrace-all,$(DEMO_FEATURES)),, \
	-DKTRACE_SELECT=1 $(patsubst ktrace-%,-DKTRACE_WITH_%=1,$(DEMO_FEATURES)))

# DEMO_CLOCK_SKEW=MICROSECONDS,PPM gives each CPU a different clock, as demo/skew describes.
DEMO_CLOCK_SKEW ?=
DEMO_SKEW_WORDS := $(subst $(DEMO_COMMA), ,$(DEMO_CLOCK_SKEW))
DEMO_SKEW_FLAGS := $(if $(DEMO_SKEW_WORDS),-Idemo/skew -DSKEW_US=$(word 1,$(DEMO_SKEW_WORDS)) \
	-DSKEW_PPM=$(word 2,$(DEMO_SKEW_WORDS)))
# A directory with an ordinary build of the kernel. A build with different clocks or events uses those
# objects of this directory that do not depend on clocks or events. An object depends on the clocks if it
# contains the bytes of the instruction that reads the clock: rdtsc, mrs with cntvct_el0, rdtime. It
# depends on the events if it has a symbol of ktrace.
DEMO_SAME_OUT ?=
DEMO_CLOCK_x86_64 := \x0f\x31
DEMO_CLOCK_aarch64 := [\x40-\x5f]\xe0\x3b\xd5
DEMO_CLOCK_riscv64 := [\x73\xf3][\x20-\x2f]\x10\xc0

# For each architecture: compiler and flags.
DEMO_CC_x86_64 ?= gcc
DEMO_CFLAGS_x86_64 := -m64 -mno-red-zone -mgeneral-regs-only -fcf-protection=none
DEMO_LDFLAGS_x86_64 := -m64

DEMO_CC_aarch64 ?= aarch64-linux-gnu-gcc
DEMO_CFLAGS_aarch64 := -mgeneral-regs-only -mno-outline-atomics -mstrict-align
DEMO_LDFLAGS_aarch64 :=

# Since the ISA manual of 2019, gcc and binutils need the CSR extension in -march, but clang 14 rejects it. So
# gcc uses the older manual (-misa-spec=2.2).
DEMO_CC_riscv64 ?= riscv64-linux-gnu-gcc
DEMO_CFLAGS_riscv64 := -march=rv64imac -mabi=lp64 -mcmodel=medany -mno-relax \
	$(if $(findstring clang,$(DEMO_CC_riscv64)),,-misa-spec=2.2)
DEMO_LDFLAGS_riscv64 := -march=rv64imac -mabi=lp64 -Wl,-n

# For each architecture: directories of demo/arch with sources that several architectures share.
DEMO_SHARED_aarch64 := virt
DEMO_SHARED_riscv64 := virt

include demo/user/user.mk

# $(call demo_rules,<arch>)
define demo_rules
DEMO_DIRS_$(1) := $$(patsubst %,demo/arch/%,$(1) $$(DEMO_SHARED_$(1)))
DEMO_ALL_SRCS_$(1) := $$(DEMO_SRCS) $$(KTRACE_SOURCES) $$(KTRACE_PROC_SOURCES) $$(KTRACE_HWT_SOURCES) \
	$$(KTRACE_HWT_SOURCES_$(1)) $$(KTRACE_SOURCES_$(1)) $$(KTRACE_ASM_$(1)) \
	$$(sort $$(wildcard $$(DEMO_DIRS_$(1):=/*.c) $$(DEMO_DIRS_$(1):=/*.S)))
DEMO_SAME_$(1) := $(if $(DEMO_SAME_OUT),$$(patsubst %.o,%,$$(shell cd $(DEMO_SAME_OUT)/$(1) && \
	$(if $(DEMO_SKEW_FLAGS),LC_ALL=C grep -rLaP --include='*.o' '$(DEMO_CLOCK_$(1))' demo kernel, \
	find demo kernel -name '*.o' | xargs nm -A | \
	awk -F : '{ all[$$$$1] } / ktrace_/ { other[$$$$1] } END { for (o in all) if (!(o in other)) print o }'))))
DEMO_OBJS_$(1) := $$(foreach source,$$(DEMO_ALL_SRCS_$(1)), \
	$$(if $$(filter $$(source),$$(DEMO_SAME_$(1))),$$(DEMO_SAME_OUT),$(DEMO_OUT))/$(1)/$$(source).o)
DEMO_COMPILE_$(1) = $$(DEMO_CC_$(1)) $$(DEMO_OPTIMISE) $$(DEMO_CFLAGS) $$(DEMO_CFLAGS_$(1)) $$(DEMO_FEATURE_FLAGS) $$(DEMO_SKEW_FLAGS) -Idemo/abi -Idemo/kern \
	-I$(DEMO_USER_OUT)/$(1) $$(patsubst %,-I%,$$(DEMO_DIRS_$(1))) $$(KTRACE_INCLUDES_$(1))

$(DEMO_OUT)/$(1)/%.o: % $(DEMO_OUT)/$(1)/flags
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(DEMO_COMPILE_$(1)) -MMD -MP -c -o $$@ $$<

$(DEMO_OUT)/$(1)/kernel.elf: $$(DEMO_OBJS_$(1)) demo/arch/$(1)/kernel.ld
	@echo "  LD    $$@"
	@$$(DEMO_CC_$(1)) $$(DEMO_LDFLAGS) $$(DEMO_LDFLAGS_$(1)) -T demo/arch/$(1)/kernel.ld -o $$@ $$(DEMO_OBJS_$(1))

$(DEMO_USER_OUT)/$(1)/root.tar: $$(DEMO_ROOT_$(1))
	@mkdir -p $$(@D)/root
	@echo "  TAR   $$@"
	@find $$(@D)/root -type f $$(patsubst %,! -path %,$$(DEMO_ROOT_$(1))) -delete # files that are no longer made
	@$$(DEMO_TAR) $$(DEMO_TAR_FLAGS) -C $$(@D)/root -cf $$@ .

$(DEMO_OUT)/$(1)/demo/kern/rootfs.S.o: $(DEMO_USER_OUT)/$(1)/root.tar

# The file "flags" contains the compile command. It is rewritten only if the command has changed.
$(DEMO_OUT)/$(1)/flags: demo-always
	@mkdir -p $$(@D)
	@echo '$$(DEMO_COMPILE_$(1))' | cmp -s - $$@ || echo '$$(DEMO_COMPILE_$(1))' > $$@

.PHONY: demo-$(1)
demo-$(1): $(DEMO_OUT)/$(1)/kernel.elf

-include $$(DEMO_OBJS_$(1):.o=.d)
endef

.PHONY: demo-always
demo-always:

$(foreach arch,$(DEMO_ARCHES),$(eval $(call demo_rules,$(arch))))
