/**
 * The filter for bwrap's `--seccomp`, as classic BPF. It refuses system calls that no build or test needs and that reach past
 * namespaces. Undefined for architectures without a table: there commands cannot be confined.
 */
export function seccompFilter(arch: string = process.arch): Buffer | undefined {
  const table = tables[arch];
  if (table === undefined) return undefined;
  const { audit, refused, socket, foreignFrom } = table;
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCH_OFFSET],
    [EQUAL, 1, 0, audit],
    // The same number means another call on another architecture.
    [RETURN, 0, 0, ENOSYS],
    [LOAD, 0, 0, NUMBER_OFFSET],
    ...(foreignFrom === undefined
      ? []
      : ([
          [AT_LEAST, 0, 1, foreignFrom],
          [RETURN, 0, 0, ENOSYS],
        ] as Instruction[])),
    ...refused.map((number, at): Instruction => [EQUAL, refused.length - at + families.length + 3, 0, number]),
    [EQUAL, 0, families.length + 2, socket],
    [LOAD, 0, 0, ARGUMENT_OFFSET],
    ...families.map((family, at): Instruction => [EQUAL, families.length - at, 0, family]),
    [RETURN, 0, 0, EAFNOSUPPORT],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, EPERM],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [at, [code, yes, no, value]] of program.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(yes, at * 8 + 2);
    bytes.writeUInt8(no, at * 8 + 3);
    bytes.writeUInt32LE(value, at * 8 + 4);
  }
  return bytes;
}

/** Code, distance when true, distance when false, value. */
type Instruction = [number, number, number, number];

const [LOAD, EQUAL, AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const [NUMBER_OFFSET, ARCH_OFFSET, ARGUMENT_OFFSET] = [0, 4, 16];
const [ALLOW, EPERM, ENOSYS, EAFNOSUPPORT] = [0x7fff0000, 0x00050001, 0x00050026, 0x00050061];

/** Unix, IPv4, IPv6 and netlink. Others, such as those to a virtual machine's host, do not end at the network namespace. */
const families = [1, 2, 10, 16];

/**
 * In this order: add_key request_key keyctl, bpf perf_event_open userfaultfd, io_uring_setup io_uring_enter io_uring_register,
 * open_by_handle_at, kexec_load kexec_file_load, init_module finit_module delete_module, syslog.
 */
const tables: Record<
  string,
  { audit: number; refused: readonly number[]; socket: number; /** Calls of the x32 ABI. */ foreignFrom?: number }
> = {
  x64: {
    audit: 0xc000003e,
    refused: [248, 249, 250, 321, 298, 323, 425, 426, 427, 304, 246, 320, 175, 313, 176, 103],
    socket: 41,
    foreignFrom: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [217, 218, 219, 280, 241, 282, 425, 426, 427, 265, 104, 294, 105, 273, 106, 116],
    socket: 198,
  },
};
