# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Guests whose CPUs have different clocks (the test builds its kernels itself), and a guest whose clocks are
# hard to measure.
SCRIPT_TESTS += test/qemu/clock.sh test/qemu/clock_stutter.sh
CHECK_NEEDS += host build/test/clock_samples $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

build/test/clock_samples: test/qemu/clock_samples.c build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -Ihost -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

# Tests of the demo kernel's console: `show ktr` at the debugger's prompt, and console output.
SCRIPT_TESTS += test/qemu/console_prompt.sh test/qemu/console_echo.sh

# Tests of hardware trace in the demo kernel, with the trace unit in software.
SCRIPT_TESTS += test/qemu/hwt_device.sh test/qemu/hwt_functions.sh test/qemu/hwt_contents.sh test/qemu/hwt_null_call.sh test/qemu/hwt_threads.sh
CHECK_NEEDS += host $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

SCRIPT_TESTS += test/qemu/hwt_absent.sh
CHECK_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

# Tests that compare the trace unit in software with QEMU's own log, and decode its packets with libipt and
# OpenCSD.
SCRIPT_TESTS += test/qemu/hwt_blocks.sh
CHECK_NEEDS += host build/lib/ktrace-pt.so build/test/hwt_blocks build/demo/x86_64/kernel.elf build/demo/aarch64/kernel.elf \
	build/test/cut.elf build/test/alias.elf

# The demo kernel with a branch at the end of a page.
build/test/cut.elf: build/demo/x86_64/kernel.elf demo/arch/x86_64/kernel.ld test/qemu/hwt_cut.sh
	@mkdir -p $(@D)
	sh test/qemu/hwt_cut.sh $(filter %.elf %.ld,$^) >build/test/cut.ld
	$(DEMO_CC_x86_64) $(DEMO_LDFLAGS) $(DEMO_LDFLAGS_x86_64) -T build/test/cut.ld -o $@ $(DEMO_OBJS_x86_64)

# A kernel that executes the same code at two addresses.
build/test/alias.elf: test/qemu/hwt_alias.S
	@mkdir -p $(@D)
	$(DEMO_CC_x86_64) -m32 -nostdlib -static -no-pie -Wl,-Ttext=0x100000 -Wl,--build-id=none -Wl,-z,noexecstack -o $@ $<

build/test/hwt_blocks: $$(call unit_objects,unit,test/qemu/hwt_blocks.c,-Ihost) build/lib/libhost.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

SCRIPT_TESTS += test/qemu/hwt_memory.sh

SCRIPT_TESTS += test/qemu/hwt_views.sh
CHECK_NEEDS += host build/test/perfetto-text $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

SCRIPT_TESTS += test/qemu/ktrdump.sh

SCRIPT_TESTS += test/qemu/live.sh

# Tests of the trace unit in software: its arguments, and its trace after QEMU was killed.
SCRIPT_TESTS += test/qemu/plugin.sh
CHECK_NEEDS += build/lib/ktrace-pt.so build/test/hwt_blocks build/demo/x86_64/kernel.elf

# Tests of process traces of the demo kernel, end to end.
SCRIPT_TESTS += test/qemu/proc_words.sh test/qemu/proc_many.sh test/qemu/proc_beside.sh test/qemu/proc_same.sh test/qemu/proc_threads.sh
CHECK_NEEDS += host $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

# Tests that run the commands in doc/try.md and doc/first-hour.md.
SCRIPT_TESTS += test/qemu/try.sh test/qemu/first_hour.sh
CHECK_NEEDS += host build/test/stress_check build/demo/x86_64/kernel.elf build/single/ktrace.c

# Tests that boot whole guests under QEMU, with the commands that a user would type.
SCRIPT_TESTS += test/qemu/stress.sh test/qemu/example.sh test/qemu/example_cplusplus.sh test/qemu/example_threads.sh test/qemu/single.sh test/qemu/frequency.sh test/qemu/switched.sh test/qemu/doctor_sections.sh test/qemu/doctor_hooks.sh test/qemu/porting.sh test/qemu/features.sh test/qemu/accel.sh test/qemu/probes.sh test/qemu/callers.sh test/qemu/noise.sh test/qemu/state.sh test/qemu/tickless.sh test/qemu/keep.sh
SOAK_TESTS += test/qemu/soak.sh
CHECK_NEEDS += host build/single/ktrace.c build/test/stress_check build/test/state_check $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
CHECK_NEEDS += build/test/minimal/ktrace.o

# The library with the port of examples/minimal, which several tests link.
build/test/minimal/ktrace.o: build/single/ktrace.c examples/minimal/ktrace_port.h examples/minimal/Makefile \
		kernel/ktrace.mk test/qemu/minimal_support.sh
	@env -u MAKEFLAGS -u MFLAGS sh -c '. test/qemu/minimal_support.sh && minimal_library examples/minimal $(@D)'

build/test/stress_check build/test/state_check: build/test/%: test/qemu/%.c build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

# Tests of `ktrace run`, `ktrace extract` and other commands, end to end.
SCRIPT_TESTS += test/qemu/check.sh test/qemu/diff.sh test/qemu/doctor.sh test/qemu/why.sh test/qemu/show_follow.sh test/qemu/control.sh test/qemu/extract_peer.sh test/qemu/panic_policy.sh
SCRIPT_TESTS += $(addprefix test/qemu/run_,outcomes.sh expect.sh commands.sh status.sh kill.sh transports.sh extract.sh bad_input.sh)
CHECK_NEEDS += build/bin/ktrace $(patsubst %,build/demo/%/kernel.elf,x86_64 aarch64 riscv64)

# Runs that can be repeated, and hunts.
SCRIPT_TESTS += test/qemu/repeat.sh test/qemu/repeat_elsewhere.sh test/qemu/hunt.sh test/qemu/goto.sh test/qemu/bisect.sh test/qemu/demo_seed.sh
SCRIPT_TESTS += $(addprefix test/qemu/hunt_,check.sh ends.sh hooks.sh minimise.sh)
SOAK_TESTS += test/soak/races.sh
CHECK_NEEDS += host $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

SCRIPT_TESTS += $(addprefix test/qemu/transport_,x86_64.sh aarch64.sh riscv64.sh kvm.sh)
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode $(patsubst %,build/demo/%/kernel.elf,x86_64 aarch64 riscv64)

# Runs that are repeated with a plugin that records accesses to memory.
SCRIPT_TESTS += $(addprefix test/qemu/,retrace.sh retrace_functions.sh retrace_branches.sh)
CHECK_NEEDS += host $(patsubst %,build/demo/%/kernel.elf,x86_64 aarch64 riscv64)

# Tests with bare-metal programs, in CPU modes in which the demo kernel never runs.
SCRIPT_TESTS += test/qemu/transport_bare.sh
CHECK_NEEDS += build/test/bare/aarch64.elf build/test/bare/riscv64.elf build/test/bare/riscv64_sbi.elf

BARE_SRCS := test/qemu/transport_bare/bare.c $(addprefix kernel/transport/,transport.c semihosting.c)
BARE_SRCS_aarch64 := $(BARE_SRCS) $(addprefix kernel/transport/,pl011.c aarch64/semihosting_aarch64.S)
BARE_SRCS_riscv64 := $(BARE_SRCS) $(addprefix kernel/transport/,uart16550.c riscv64/semihosting_riscv64.S)
BARE_CFLAGS := -std=c11 -O2 -ffreestanding -fno-pic -nostdlib -static $(WARNINGS) -Wl,--build-id=none -Wl,-n \
	-Wl,--no-warn-rwx-segments

# $(call bare_rule,<program>,<arch>,<load address>)
define bare_rule
build/test/bare/$(1).elf: test/qemu/transport_bare/$(2)/start.S $$(BARE_SRCS_$(2)) include/ktrace/transport.h
	@mkdir -p $$(@D)
	$$(DEMO_CC_$(2)) $$(BARE_CFLAGS) $$(DEMO_CFLAGS_$(2)) -Itest/qemu/transport_bare/$(2) $$(KTRACE_INCLUDES_$(2)) \
		-Wl,-Ttext=$(3) -o $$@ $$(filter %.c %.S,$$^)
endef
$(eval $(call bare_rule,aarch64,aarch64,0x40080000))
$(eval $(call bare_rule,riscv64,riscv64,0x80000000))
$(eval $(call bare_rule,riscv64_sbi,riscv64,0x80200000))

# Profiles of a guest without ktrace. It starts with the same code as the programs above.
SCRIPT_TESTS += test/qemu/profile.sh
CHECK_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/test/bare/shares_%.elf) $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

# The profiler walks the stacks of these programs along the chain of frame pointers on AArch64, and by call
# frame information on the other architectures.
FRAMES_x86_64 := -fomit-frame-pointer -fasynchronous-unwind-tables
FRAMES_aarch64 := -fno-omit-frame-pointer -fno-asynchronous-unwind-tables
FRAMES_riscv64 := -fomit-frame-pointer -g

# $(call without_ktrace,<program>,<arch>,<load address>)
define without_ktrace
build/test/bare/$(1)_$(2).elf: test/qemu/transport_bare/$(2)/start.S test/qemu/profile/$(1).c
	@mkdir -p $$(@D)
	$$(DEMO_CC_$(2)) $$(BARE_CFLAGS) $$(FRAMES_$(2)) $$(DEMO_CFLAGS_$(2)) -Wl,-Ttext=$(3) -o $$@ $$^
endef
$(foreach program,halts shares stuck,$(eval $(call without_ktrace,$(program),x86_64,0x100000)) \
	$(eval $(call without_ktrace,$(program),aarch64,0x40080000)) $(eval $(call without_ktrace,$(program),riscv64,0x80000000)))
$(eval $(call without_ktrace,naps,riscv64,0x80000000))

# Tests of `ktrace why` for guests without ktrace.
SCRIPT_TESTS += test/qemu/why_outside.sh
CHECK_NEEDS += build/test/bare/halts_x86_64.elf build/test/bare/naps_riscv64.elf
CHECK_NEEDS += $(DEMO_ARCHES:%=build/test/bare/stuck_%.elf)

# Tests of the demo kernel as a small Unix.
SCRIPT_TESTS += test/qemu/unix_programs.sh test/qemu/unix_trace.sh test/qemu/unix_v1.sh
SOAK_TESTS += test/qemu/unix_soak.sh
CHECK_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
