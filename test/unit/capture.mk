# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Unit tests of capture: what is read, decided and said, without a QEMU.

# $(call capture_test,<name>,<files of host/capture, without .c>)
define capture_test
UNIT_TESTS += capture_$(1)
UNIT_SRCS_capture_$(1) := test/unit/capture_$(1).c $(2:%=host/capture/%.c) host/capture/error.c
UNIT_CFLAGS_capture_$(1) := -Ihost
endef

$(eval $(call capture_test,option,qemu_option))
$(eval $(call capture_test,line,qemu_option qemu_line plan record transport words trace_unit path))
$(eval $(call capture_test,machine,machine qmp json memory_map))
$(eval $(call capture_test,verdict,verdict watch))
$(eval $(call capture_test,kernel,kernel_elf))
$(eval $(call capture_test,kernel_check,kernel_check kernel_elf))
UNIT_SRCS_capture_kernel_check += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_kernel_check += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,view,view ram memory_map watch frequency))
UNIT_SRCS_capture_view += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_view += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,mailbox,mailbox))
UNIT_LDLIBS_capture_mailbox := -pthread
$(eval $(call capture_test,ram,memory_map ram record))
UNIT_SRCS_capture_ram += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,summary,summary))
UNIT_SRCS_capture_summary += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_summary += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,dump_note,dump_note))
UNIT_SRCS_capture_dump_note += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_dump_note += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,peer,dial frequency gdb interrupt json memory_map monitor peer_gdb peer_qmp process_memory qmp ram registers))
UNIT_SRCS_capture_peer += $(wildcard host/ktread/*.c) host/analyze/privilege.c
UNIT_LDLIBS_capture_peer := -pthread
$(eval $(call capture_test,expect,expect))
$(eval $(call capture_test,stillness,stillness watch))
$(eval $(call capture_test,stack,stack))
$(eval $(call capture_test,inspection,inspection frequency json machine memory_map path qmp registers stack))
UNIT_LIBS_capture_inspection := build/lib/libktread.a
$(eval $(call capture_test,process,memory_map process_memory))
UNIT_LIBS_capture_process := build/lib/libktread.a
$(eval $(call capture_test,core,core_registers registers))
