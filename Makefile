# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# ktrace. `make help` lists what can be asked for. One non-recursive make: every room brings a fragment with
# its sources and rules, all output lies under build/.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDEXPANSION:

BUILD := build
ARCHES := x86_64 aarch64 riscv64
# x64 and arm64 are accepted as the names some kernels use.
ARCH ?= x86_64
override ARCH := $(patsubst arm64,aarch64,$(patsubst x64,x86_64,$(ARCH)))

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
HOST_CC ?= gcc
HOST_CFLAGS ?= -O2 -g
HOST_CPPFLAGS := -Iinclude -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

.PHONY: all
all: host demo-kernel

include kernel/ktrace.mk
-include host/host.mk
-include demo/demo.mk
-include test/test.mk
-include bench/bench.mk
