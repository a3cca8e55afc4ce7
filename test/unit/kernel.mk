# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of the kernel library: how it builds, and how it records on a fake machine.
SCRIPT_TESTS += $(addprefix test/unit/kernel_build/,matrix.sh cplusplus.sh refused.sh code.sh)

.PHONY: ktrace-sources test-kernel-matrix
ktrace-sources:
	@echo $(KTRACE_CORE_SOURCES)
test-kernel-matrix:
	sh test/run.sh test/unit/kernel_build/matrix.sh
