# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Reads a page that ktrace html wrote (spec/page.md). It shares no code with the writer."""
import base64
import collections
import json
import re
import zlib

SLICE = ("begin", "duration", "name", "cls", "depth", "ring", "slot", "other", "flags")


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                assert value < 1 << 64
                return value
            shift += 7

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def take(self, size):
        assert self.at + size <= len(self.data)
        self.at += size
        return self.data[self.at - size:self.at]

    def column(self, count):
        return [self.number() for _ in range(count)]

    def deltas(self, count, signed=False):
        total, column = 0, []
        for _ in range(count):
            total = (total + (self.signed() if signed else self.number())) % (1 << 64)
            column.append(total)
        return column


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        heads = re.findall(r'<script id="ktrace-head" type="application/json">(.*?)</script>', text, re.S)
        assert len(heads) == 1
        self.head = json.loads(heads[0])
        self.types = {kind["id"]: kind for kind in self.head["types"]}
        self.strings, self.lanes = [""], []
        self.slices = collections.defaultdict(list)  # by (lane, row)
        self.arrows, self.gaps, self.events = [], [], []
        self.counters = collections.defaultdict(list)
        self.density, self.symbols, self.stacks = {}, {}, {}
        self.sizes = collections.Counter()
        blocks = re.findall(r'<script class="ktrace-block" type="[^"]*">(.*?)</script>', text, re.S)
        self.blocks = len(blocks)
        for block in blocks:
            self.block(zlib.decompress(base64.b64decode(block, validate=True)))

    def block(self, data):
        reader = Bytes(data)
        readers = (self.read_strings, self.read_lanes, self.read_slices, self.read_arrows, self.read_counter,
                   self.read_gaps, self.read_events, self.read_density, self.read_symbols, self.read_stacks)
        while reader.at < len(data):
            tag = reader.number()
            section = Bytes(reader.take(reader.number()))
            self.sizes[tag] += len(section.data)
            readers[tag - 1](section)
            assert section.at == len(section.data), tag

    def read_strings(self, section):
        for _ in range(section.number()):
            self.strings.append(section.take(section.number()).decode("utf-8"))

    def read_lanes(self, section):
        for _ in range(section.number()):
            lane, kind, number, name, group, flags = section.column(6)
            assert lane <= len(self.lanes)
            self.lanes[lane:lane + 1] = [(kind, number, self.strings[name], self.strings[group], flags)]

    def read_slices(self, section):
        lane, row, count = section.column(3)
        columns = [section.deltas(count)] + [section.column(count) for _ in range(5)]
        columns += [section.deltas(count, True), section.column(count), section.column(count)]
        assert lane < len(self.lanes) and count > 0
        for values in zip(*columns):
            self.slices[lane, row].append(dict(zip(SLICE, values), name=self.strings[values[2]]))

    def read_arrows(self, section):
        count = section.number()
        columns = [section.deltas(count)] + [section.column(count) for _ in range(4)]
        columns += [section.deltas(count, True), section.column(count)]
        for values in zip(*columns):
            assert values[1] < len(self.lanes) and values[2] < len(self.lanes)
            self.arrows.append(dict(zip(("time", "from", "to", "length", "ring", "slot", "kind"), values)))

    def read_counter(self, section):
        lane, count = section.column(2)
        times = section.deltas(count)
        assert self.lanes[lane][0] == 2
        self.counters[lane] += list(zip(times, [section.signed() for _ in range(count)]))

    def read_gaps(self, section):
        count = section.number()
        columns = [section.column(count), section.deltas(count), section.column(count), section.column(count)]
        self.gaps += [dict(zip(("cpu", "begin", "duration", "lost"), values)) for values in zip(*columns)]

    def value(self, section, kind):
        if kind == "signed":
            return section.signed()
        number = section.number()
        return self.strings[number] if kind == "text" else number

    def read_events(self, section):
        ring, cpu, count = section.column(3)
        columns = [section.deltas(count, True)] + [section.column(count) for _ in range(3)]
        columns += [section.deltas(count), section.column(count)]
        for time, number, lane, context, slot, present in zip(*columns):
            fields = self.types[number]["fields"] if number in self.types else []
            values = {fields[n]["name"]: self.value(section, fields[n]["kind"])
                      for n in range(len(fields)) if present >> n & 1}
            assert lane <= len(self.lanes)
            self.events.append(dict(time=time, type=number, lane=lane - 1, context=context, ring=ring, slot=slot,
                                    cpu=cpu - 1, values=values))

    def read_density(self, section):
        lane, width, count = section.column(3)
        columns = [section.deltas(count), section.column(count), section.column(count)]
        self.density[lane] = (width, list(zip(*columns)))

    def read_symbols(self, section):
        count = section.number()
        addresses = section.deltas(count)
        self.symbols.update(zip(addresses, (self.strings[n] for n in section.column(count))))

    def read_stacks(self, section):
        ring, count = section.column(2)
        for slot in section.deltas(count):
            self.stacks[ring, slot] = section.column(section.number())
