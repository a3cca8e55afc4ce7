# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/viewer/unit.sh test/viewer/browser.sh
CHECK_NEEDS += build/bin/ktrace build/test/why-traces

# Installs the program that drives the browser if it is not installed yet. If that fails, the test prints the reason.
.PHONY: viewer-browser
viewer-browser:
	@sh test/npm.sh viewer
CHECK_NEEDS += viewer-browser
