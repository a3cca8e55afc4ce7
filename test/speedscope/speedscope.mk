# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/speedscope/speedscope.sh
CHECK_NEEDS += build/bin/ktrace build/test/cmd-traces build/test/danger-traces

# Installs the schema if it is not installed yet. If the installation fails, the test prints the
# reason.
.PHONY: speedscope-schema
speedscope-schema:
	@sh test/npm.sh speedscope
CHECK_NEEDS += speedscope-schema
