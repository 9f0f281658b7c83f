import assert from "node:assert/strict";
import { test } from "node:test";
import { seccompFilter } from "../../src/confine/seccomp.ts";

/** Runs a filter as the kernel would, for a call of this number and architecture. */
function verdict(filter: Buffer, number: number, audit: number, argument = 0): number {
  let value = 0;
  for (let at = 0; ; at++) {
    const [code, yes, no, operand] = [
      filter.readUInt16LE(at * 8),
      filter[at * 8 + 2]!,
      filter[at * 8 + 3]!,
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return operand;
    if (code === 0x20) value = operand === 4 ? audit : operand === 16 ? argument : number;
    else at += (code === 0x15 ? value === operand : value >= operand) ? yes : no;
  }
}

const [ALLOW, EPERM, ENOSYS, EAFNOSUPPORT] = [0x7fff0000, 0x00050001, 0x00050026, 0x00050061];

test("the filter refuses what reaches past namespaces, and nothing that programs need", () => {
  const filter = seccompFilter("x64")!;
  const [read, openat, keyctl, bpf, uring, syslog] = [0, 257, 250, 321, 425, 103];
  for (const number of [read, openat, 39, 56, 59])
    assert.equal(verdict(filter, number, 0xc000003e), ALLOW, `${number}`);
  for (const number of [keyctl, bpf, uring, syslog])
    assert.equal(verdict(filter, number, 0xc000003e), EPERM, `${number}`);
  assert.equal(verdict(filter, read, 0x40000003), ENOSYS, "a call of 32 bits");
  assert.equal(verdict(filter, 0x40000000 + 250, 0xc000003e), ENOSYS, "a call of x32");
});

test("sockets are those that a network namespace holds, and none to the host of a virtual machine", () => {
  for (const [arch, socket, audit] of [
    ["x64", 41, 0xc000003e],
    ["arm64", 198, 0xc00000b7],
  ] as const) {
    const told = (family: number) => verdict(seccompFilter(arch)!, socket, audit, family);
    for (const family of [1, 2, 10, 16]) assert.equal(told(family), ALLOW, `${family}`);
    for (const family of [0, 17, 31, 38, 40, 42]) assert.equal(told(family), EAFNOSUPPORT, `${family}`);
  }
});

test("there is a filter for arm64, and none for what has no table", () => {
  assert.equal(verdict(seccompFilter("arm64")!, 219, 0xc00000b7), EPERM);
  assert.equal(verdict(seccompFilter("arm64")!, 63, 0xc00000b7), ALLOW);
  assert.equal(seccompFilter("mips"), undefined);
});
