# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the output of ktrdump, for every option, with golden files.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/ktrdump
build/test/ktrdump-traces "$tmp" || exit 1

golden default ktrdump -M ktr.ktrx
golden a ktrdump -a -M ktr.ktrx
golden c ktrdump -c -M ktr.ktrx
golden f ktrdump -f -M ktr.ktrx
golden i ktrdump -i -M ktr.ktrx
golden l ktrdump -l -s -M ktr.ram
golden l-by-ring ktrdump -l -M ktr.ram
golden l-where ktrdump -l -s --where 'cpu == 1' -M ktr.ram
golden l-where-unknown ktrdump -l --where 'cpu == 1 and no_such_field == 2' -M ktr.ram
golden follow-where ktrace show --follow --where 'cpu == 1' ktr.ram
golden n ktrdump -n -s -r -x -M ktr.ktrx
golden o ktrdump -i -o table -M ktr.ktrx
[ -z "${UPDATE-}" ] || cp "$tmp/table" "$golden/o-table"
same "o: the table" "$golden/o-table" "$tmp/table"
golden p ktrdump -p -M ktr.ktrx
golden q ktrdump -q -s -M ktr.ktrx
golden r ktrdump -r -s -c -M ktr.ktrx
golden r-by-ring ktrdump -r -c -M ktr.ktrx
golden s ktrdump -s -M ktr.ktrx
golden t ktrdump -t -M ktr.ktrx
golden x ktrdump -x -s -M ktr.ktrx
golden A ktrdump -r -s -A 0.25 -M ktr.ktrx
golden A-auto ktrdump -r -q -A auto -M ktr.ktrx
golden M ktrdump -s -M ktr.ram

golden d ktrdump -d -o stream -M ktr.ktrx
golden d-read ktrdump -s -x -i -M stream

# These tests run only on x86_64, the machine of the trace.
if [ "$(uname -m)" = x86_64 ] &&
	cc -nostdlib -static -Wl,-Ttext=0x100000,-e,lwkt_gettoken,--build-id=none -o "$tmp/kernel" test/golden/ktrdump_kernel.S; then
	golden N ktrdump -a -N kernel -M ktr.ktrx
	golden N-n ktrdump -x -n -s -N kernel -M ktr.ktrx
else
	skip "N" "cannot build an ELF file of x86_64 here"
fi
golden N-absent ktrdump -x -q -N nowhere -M ktr.ktrx

golden far-cpu ktrdump -r -s -c -M far.ktrx
golden l-trace ktrdump -l -q -i -M ktr.ktrx
golden bad-correction ktrdump -A 1 -M ktr.ktrx
golden bad-raw ktrdump -r -n -A 1 -M ktr.ktrx
golden bad-stream ktrdump -d -l -M ktr.ram
golden bad-file ktrdump -M nowhere
golden bad-follow ktrdump -l -M nowhere
golden bad-word ktrdump ktr.ktrx
golden bad-none ktrdump -t
truncate -s 2M "$tmp/empty"
golden bad-empty ktrdump -M empty
golden bad-core ktrdump -N kernel -M nothing.core
golden bad-output ktrdump -o nowhere/at/all -M ktr.ktrx
golden bad-overwrite ktrdump -o ktr.ktrx -M ktr.ktrx
echo "is read" >"$tmp/names"
golden bad-overwrite-names ktrdump -x -N names -o names -M ktr.ktrx
equal "-o does not overwrite the file of -N" "is read" "$(cat "$tmp/names")"

done_testing
