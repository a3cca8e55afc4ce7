# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The backend of CoreSight on a model of its components.
CORESIGHT_TEST_SRCS = test/unit/hwt_coresight_support.c $(addprefix test/fake/,hwt_coresight.c hwt_coresight_etm.c \
	hwt_coresight_names.c hwt_coresight_tmc.c hwt_log.c) $(KTRACE_HWT_CORESIGHT_SOURCES)

# $(call coresight_test,<name>,<what it takes besides>)
define coresight_test
UNIT_TESTS += hwt_$(1)
UNIT_SRCS_hwt_$(1) = test/unit/hwt_$(1).c $$(CORESIGHT_TEST_SRCS) $(2)
UNIT_CFLAGS_hwt_$(1) = $$(KERNEL_TEST_CFLAGS)
endef
$(eval $(call coresight_test,coresight,$$(KERNEL_TEST_SRCS)))
$(eval $(call coresight_test,coresight_graph,$$(KERNEL_TEST_SRCS)))
$(eval $(call coresight_test,coresight_config,$$(KERNEL_TEST_SRCS)))
$(eval $(call coresight_test,coresight_conform,$$(HWT_CONFORM_SRCS)))
$(eval $(call coresight_test,coresight_model,$$(KERNEL_TEST_SRCS)))
