import assert from "node:assert/strict";
import { test } from "node:test";
import { seccompFilter } from "../../src/confine/seccomp.ts";

/** Runs a filter as the kernel would, for a call of this number and architecture. */
function verdict(filter: Buffer, number: number, audit: number, ...given: number[]): number {
  let value = 0;
  for (let at = 0; ; at++) {
    const [code, yes, no, operand] = [
      filter.readUInt16LE(at * 8),
      filter[at * 8 + 2]!,
      filter[at * 8 + 3]!,
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return operand;
    if (code === 0x20) value = operand === 4 ? audit : operand === 0 ? number : (given[(operand - 16) / 8] ?? 0);
    else
      at += (code === 0x15 ? value === operand : code === 0x45 ? (value & operand) !== 0 : value >= operand) ? yes : no;
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

test("no call sets a setuid or setgid bit, and every other mode passes", () => {
  const X64 = 0xc000003e;
  const ARM64 = 0xc00000b7;
  const [CREATE, TEMPORARY, READ] = [0o101, 0o20200002, 0];
  /** Call, its arguments up to the mode. */
  const setting: [audit: number, number: number, ...before: number[]][] = [
    ...[90, 91, 85, 133].map((number): [number, number, number] => [X64, number, 7]),
    ...[268, 452, 259].map((number): [number, number, number, number] => [X64, number, 7, 7]),
    [X64, 2, 7, CREATE],
    [X64, 2, 7, TEMPORARY],
    [X64, 257, 7, 7, CREATE],
    [X64, 257, 7, 7, TEMPORARY],
    [ARM64, 52, 7],
    ...[53, 452, 33].map((number): [number, number, number, number] => [ARM64, number, 7, 7]),
    [ARM64, 56, 7, 7, CREATE],
  ];
  for (const [audit, number, ...before] of setting) {
    const told = (mode: number) =>
      verdict(seccompFilter(audit === X64 ? "x64" : "arm64")!, number, audit, ...before, mode);
    for (const mode of [0o4755, 0o2755, 0o6000, 0o104755]) assert.equal(told(mode), EPERM, `${number} ${mode}`);
    for (const mode of [0o755, 0o1777, 0o100644]) assert.equal(told(mode), ALLOW, `${number} ${mode}`);
  }
  assert.equal(verdict(seccompFilter("x64")!, 257, X64, 7, 7, READ, 0o6777), ALLOW, "a mode that nobody reads");
  assert.equal(verdict(seccompFilter("x64")!, 437, X64), ENOSYS, "openat2");
});

test("nobody traces or changes the first process of a sandbox, and everybody their own children", () => {
  for (const [arch, audit, ptrace, ...others] of [
    ["x64", 0xc000003e, 101, 310, 311, 302],
    ["arm64", 0xc00000b7, 117, 270, 271, 261],
  ] as const) {
    const filter = seccompFilter(arch)!;
    assert.deepEqual([verdict(filter, ptrace, audit, 16, 1), verdict(filter, ptrace, audit, 16, 2)], [EPERM, ALLOW]);
    for (const call of others)
      assert.deepEqual([verdict(filter, call, audit, 1), verdict(filter, call, audit, 2)], [EPERM, ALLOW], `${call}`);
    assert.equal(verdict(filter, 438, audit, 3), EPERM, "its descriptors");
  }
});

test("there is a filter for arm64, and none for what has no table", () => {
  assert.equal(verdict(seccompFilter("arm64")!, 219, 0xc00000b7), EPERM);
  assert.equal(verdict(seccompFilter("arm64")!, 63, 0xc00000b7), ALLOW);
  assert.equal(seccompFilter("mips"), undefined);
});
