# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/parquet/parquet.sh
CHECK_NEEDS += build/bin/ktrace build/test/cmd-traces build/test/danger-traces build/test/memory-trace

# Installs the reader if it is not installed yet. If the installation fails, the test prints the
# reason.
.PHONY: parquet-reader
parquet-reader:
	@sh test/npm.sh parquet
CHECK_NEEDS += parquet-reader
