# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The official client of the Model Context Protocol can use each tool of `ktrace mcp`.
. test/tap.sh

packages=build/test/mcp
if [ ! -d "$packages/node_modules/@modelcontextprotocol" ]; then
	skip "the official client uses each tool" "$(cat $packages/reason 2>/dev/null || echo "make mcp-client was not run")"
	done_testing
fi
mkdir "$tmp/traces" "$tmp/why" || exit 1
build/test/cmd-traces "$tmp/traces" >"$tmp/log" 2>&1 && build/test/why-traces "$tmp/why" >"$tmp/log" 2>&1 || exit 1
cp "$tmp/why/deadlock.ktrx" "$tmp/traces"
cp build/bin/ktrace "$tmp/traces/kernel.elf"
echo 'one-wake: at most 20 sched.wake per 1s' >"$tmp/traces/test.rules"

timeout -k 5 $limit node test/mcp/client.mjs "$packages" build/bin/ktrace "$tmp/traces" >"$tmp/out" 2>"$tmp/err"
equal "the client ends without an error" "0 " "$? $(head -n 5 "$tmp/err")"
tools="check diff doctor life show sql stats summary why"
{
	echo "server ktrace"
	echo "ping answered"
	echo "tools $tools"
	echo "read only true"
	for tool in $tools; do echo "$tool answers"; done
	echo "why true"
	echo "show true"
	echo "pages true"
	echo "check true"
	echo "life true"
	echo "life of any object true"
	echo "where true"
	echo "sql true"
	echo "life needs its words true the tool life needs the argument id"
	echo "outside true /etc/passwd: is not below the directory that this server may read"
	echo "absent tool -32602"
	echo closed
} | sort >"$tmp/expected"
sort "$tmp/out" >"$tmp/sorted"
same "each tool answers, and takes each of its arguments" "$tmp/expected" "$tmp/sorted"
done_testing
