# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# ktrace. `make help` lists the targets. This is one non-recursive make: host, kernel, demo and tests have
# makefile fragments with their sources and rules. All output is in build/.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDEXPANSION:

# Other names of architectures, which some kernels use, are accepted.
ARCH ?= x86_64
override ARCH := $(patsubst riscv,riscv64,$(patsubst arm64,aarch64,$(patsubst x64,x86_64,$(ARCH))))

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
HOST_CC ?= gcc
# -g1: names of functions and numbers of lines. To see variables in a debugger: HOST_CFLAGS='-Og -g'.
HOST_CFLAGS ?= -O2 -g1
HOST_CPPFLAGS := -Iinclude -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

.PHONY: help demo demo-hwt check scenarios soak bench docs map build single figures messages install run-ktrace decode-ktrace clean
help:
	@echo 'make demo [ARCH=x86_64|aarch64|riscv64]   install missing packages, build, boot, show a trace'
	@echo '          [SEED=N]                        let N choose the order of the CPUs, and repeat the run'
	@echo 'make check                                install missing packages, build, run all tests'
	@echo
	@echo 'make host [STATIC=0]                      only the host tools: build/bin/ktrace; STATIC=0, for any target:'
	@echo '                                          link shared libraries instead of archives'
	@echo 'make install [PREFIX=/usr/local] [DESTDIR=]   tools, manual, and sources for kernels: PREFIX/share/ktrace'
	@echo 'make single                               the kernel library as two files: build/single/ktrace.c, ktrace.h'
	@echo 'make build [ARCH=…] [FEATURES=…]          host tools and demo kernel; FEATURES=ktrace-all or a list'
	@echo '                                          such as ktrace-sched,ktrace-net'
	@echo 'make run-ktrace [ARCH=…] [ACCEL=kvm|tcg]  boot the demo kernel with every event on: build/ktrace.ktrx'
	@echo '                                          (ACCEL: also for make demo; default: KVM if it is usable)'
	@echo 'make decode-ktrace [ARGS="--pid 6"]       show that trace; ARGS: options of ktrace-decode'
	@echo 'make bench                                run all benchmarks; the figures are also in build/bench.json'
	@echo 'make bench-short                          run each benchmark once on little input, to test that it runs'
	@echo 'make demo-hwt [HWT_ARCHES="x86_64 aarch64"]  trace programs instruction by instruction; compare with a log of QEMU'
	@echo 'make scenarios [SCENARIOS=NAME[/ARCH]…]   real bugs in the demo kernel, and the verdict of ktrace why for each'
	@echo 'make soak                                 run the long tests'
	@echo 'make figures                              print sizes of the sources, and the aim for each'
	@echo 'make messages                             print messages of the tools, each after a command that provokes it'
	@echo 'make docs                                 update the output of commands in README.md, spec/ and doc/'
	@echo 'make map                                  update the table of sources and tests in test/README.md'
	@echo 'make clean'

# $(directory): the command that creates the directory of a recipe's target, or nothing if that directory exists.
folder = $(if $(wildcard $(@D)),,mkdir -p $(@D))

# QEMU's accelerator for guests that are started by hand: kvm, tcg, or auto, which is KVM if it is usable.
# Tests and documents always use TCG.
ACCEL ?= auto

# Without -j on the command line, as many jobs as there are CPUs.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# Packages are installed first, in a separate make, because makefiles look for installed programs.
demo:
	@sh scripts/setup.sh demo $(ARCH)
	@$(MAKE) --no-print-directory $(JOBS) build ARCH=$(ARCH)
	@SEED='$(SEED)' ACCEL='$(ACCEL)' sh scripts/demo.sh $(ARCH)

HWT_ARCHES ?= x86_64 aarch64
demo-hwt:
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory -s $(JOBS) host $(HWT_ARCHES:%=demo-%)
	@sh scripts/demo_hwt.sh $(HWT_ARCHES)

check:
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory $(JOBS) run-tests

scenarios:
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory $(JOBS) run-scenarios

soak:
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory run-soak

bench:
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory run-bench

build: host $$(DEMO_OUT)/$(ARCH)/kernel.elf
	@echo 'build/bin/ktrace and $(DEMO_OUT)/$(ARCH)/kernel.elf are ready.' >&2

# The kernel library as two files.
SINGLE_SOURCES = $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)
single: build/single/ktrace.c
	@echo 'build/single/ktrace.c and build/single/ktrace.h are ready.' >&2

build/single/ktrace.c: scripts/single.sh scripts/single.awk VERSION $$(SINGLE_SOURCES) $(wildcard include/ktrace/*.h include/ktrx/*.h \
		kernel/base/*.h kernel/core/*.h kernel/console/*.h kernel/arch/*/ktrace_arch.h)
	@sh scripts/single.sh build/single $(SINGLE_SOURCES)

PREFIX ?= /usr/local
install: host build/single/ktrace.c
	@sh scripts/install.sh '$(DESTDIR)$(PREFIX)' $(TOOLS)

run-ktrace: build
	line=$$(ACCEL='$(ACCEL)' sh scripts/qemu.sh $(ARCH)) && \
		build/bin/ktrace run --out build/ktrace.ktrx -- $$line -append 'debug=ktrace $(APPEND)'

decode-ktrace:
	build/bin/ktrace-decode build/ktrace.ktrx $(ARGS)

# Runs the commands whose output is shown in documents, and updates the output there.
docs: export ACCEL := tcg
docs: build build/single/ktrace.c build/bench/record/record build/test/stress_check
	sh scripts/demo.sh x86_64 >build/demo.log 2>&1
	build/bin/ktrace run -q --out build/spec.ktrx -- $$(sh scripts/qemu.sh riscv64 1) -append run=cost >build/spec.log
	build/bin/ktrace run -q --timeout 3 --out build/why.ktrx -- $$(sh scripts/qemu.sh x86_64 2) -append run=abba >build/why.log || test $$? -eq 12
	build/bin/ktrace run -q --branches --out build/null-call.ktrx -- $$(sh scripts/qemu.sh x86_64 2) -append run=null-call >build/null-call.log || test $$? -eq 10
	$(MAKE) -s -C examples/minimal OUT=$(CURDIR)/build/minimal
	build/bin/ktrace run -q --out build/minimal.ktrx -- qemu-system-riscv64 -M virt -bios none -smp 4 -nographic \
		-kernel build/minimal/kernel.elf
	$(MAKE) -s -C examples/threads OUT=$(CURDIR)/build/threads
	$(MAKE) -s -C examples/threads OUT=$(CURDIR)/build/threads-early EARLY=1
	build/bin/ktrace run -q --out build/threads.ktrx -- qemu-system-riscv64 -M virt -bios none -nographic \
		-kernel build/threads/kernel.elf
	build/bin/ktrace run -q --timeout 3 --out build/threads-early.ktrx -- qemu-system-riscv64 -M virt -bios none -nographic \
		-kernel build/threads-early/kernel.elf || test $$? -eq 12
	sh scripts/first_hour.sh build/first-hour >build/first-hour.log 2>&1
	sh scripts/picture.sh build/demo-x86_64.ktrx doc/picture.svg
	sh scripts/embed.sh README.md doc/examples.md doc/figures.md doc/first-hour.md doc/howto/threads.md doc/try.md spec/ktrx.md

map:
	sh test/map.sh >build/test-readme.md && cp build/test-readme.md test/README.md

figures:
	@sh scripts/figures.sh

messages: host
	@sh scripts/messages.sh

clean:
	rm -rf build

include kernel/ktrace.mk
include host/host.mk
include demo/demo.mk
include test/test.mk
include bench/bench.mk
