# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Real bugs in the demo kernel, and what `ktrace why` reports for each.
SCRIPT_TESTS += test/scenarios/check.sh
CHECK_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

.PHONY: run-scenarios
run-scenarios: host $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
	sh test/scenarios/run.sh $(SCENARIOS)
