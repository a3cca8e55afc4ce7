# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Intel PT and SPE on models of their registers: what they ask of them, where their bytes go, that the models see what is
# forbidden, and that they pass what every backend must pass.

# $(call hwt_registers_test,<name>,<pt or spe>,<its sources>)
define hwt_registers_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) = test/unit/$(1).c test/unit/hwt_$(2)_support.c test/fake/hwt_$(2).c test/fake/hwt_log.c $(3)
UNIT_CFLAGS_$(1) = $$(KERNEL_TEST_CFLAGS)
endef
$(eval $(call hwt_registers_test,hwt_pt,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_test,hwt_pt_buffer,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_test,hwt_pt_model,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_test,hwt_spe_registers,spe,$(KTRACE_HWT_SPE_SOURCES)))
$(eval $(call hwt_registers_test,hwt_spe_buffer,spe,$(KTRACE_HWT_SPE_SOURCES)))
$(eval $(call hwt_registers_test,hwt_spe_model,spe,$(KTRACE_HWT_SPE_SOURCES)))

# $(call hwt_registers_conform,<pt or spe>,<its sources>)
define hwt_registers_conform
UNIT_TESTS += hwt_$(1)_conform
UNIT_SRCS_hwt_$(1)_conform = test/unit/hwt_$(1)_conform.c test/fake/hwt_$(1).c test/fake/hwt_log.c $(2) $$(HWT_CONFORM_SRCS)
UNIT_CFLAGS_hwt_$(1)_conform = $$(HWT_KERNEL_TEST_CFLAGS)
endef
$(eval $(call hwt_registers_conform,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_conform,spe,$(KTRACE_HWT_SPE_SOURCES)))
