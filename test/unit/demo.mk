# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of those parts of the demo kernel that run on the host. Its headers have the names of the C library's, hence
# -iquote.
DEMO_TEST_CFLAGS := -DKTRACE_STATE=0 -Ikernel/arch/generic -iquote test/fake/demo -iquote demo/kern -iquote demo/abi
DEMO_TEST_SRCS := test/fake/demo/memory.c test/fake/demo/process.c demo/kern/vm.c demo/kern/vm_fault.c demo/kern/share.c

UNIT_TESTS += demo_vm demo_elf
UNIT_SRCS_demo_vm := test/unit/demo_vm.c $(DEMO_TEST_SRCS)
UNIT_CFLAGS_demo_vm := $(DEMO_TEST_CFLAGS)
UNIT_SRCS_demo_elf := test/unit/demo_elf.c demo/kern/elf.c $(DEMO_TEST_SRCS)
UNIT_CFLAGS_demo_elf := $(DEMO_TEST_CFLAGS)
