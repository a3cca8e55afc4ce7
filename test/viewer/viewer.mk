# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/viewer/unit.sh test/viewer/browser.sh
CHECK_NEEDS += build/bin/ktrace build/test/why-traces

# Installs the program that drives the browser if it is not installed yet. If the installation fails, the
# test prints the reason.
.PHONY: viewer-browser
viewer-browser:
	@sh test/npm.sh viewer
CHECK_NEEDS += viewer-browser

# Measures how long the page of a million events takes to open and to draw.
.PHONY: bench-viewer
bench-viewer: build/gen/page.html viewer-browser
	@mkdir -p build/bench
	@node test/viewer/large.js build/gen/page.html 1000000 >build/bench/page.html
	@node test/viewer/bench.mjs build/test/viewer "$$(command -v chromium)" build/bench/page.html
