# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The kernel library for any make: include this and take
#   KTRACE_SOURCES   what to compile, relative to KTRACE_ROOT
#   KTRACE_CPPFLAGS  where its headers lie, for the CPU named in KTRACE_ARCH (x86_64, aarch64 or riscv64)
# KTRACE_ROOT is the folder that holds include/ and kernel/.
KTRACE_ROOT := $(patsubst %/,%,$(dir $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))))
KTRACE_ARCH ?= $(ARCH)
KTRACE_CORE_SOURCES := $(addprefix kernel/core/,attach.c control.c cpu.c init.c outcome.c record.c state.c)
KTRACE_SOURCES := $(KTRACE_CORE_SOURCES)
KTRACE_CPPFLAGS = -I$(KTRACE_ROOT)/include -I$(KTRACE_ROOT)/kernel/arch/$(KTRACE_ARCH)
