# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/mcp/server.sh test/mcp/client.sh
CHECK_NEEDS += build/bin/ktrace build/test/cmd-traces build/test/why-traces

# Installs the official client of the protocol if it is not installed yet. If the installation fails, the
# test prints the reason.
.PHONY: mcp-client
mcp-client:
	@sh test/npm.sh mcp
CHECK_NEEDS += mcp-client

# Prepares tasks for a language model that has only the tools of `ktrace mcp`, and prints the questions.
.PHONY: mcp-tasks
mcp-tasks: host build/demo/x86_64/kernel.elf
	sh test/mcp/tasks.sh
