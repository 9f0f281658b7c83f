/** Classic BPF for bwrap's `--seccomp`: refuses calls that no build needs and that reach past namespaces. Undefined: cannot confine. */
export function seccompFilter(arch: string = process.arch): Buffer | undefined {
  const table = tables[arch];
  if (table === undefined) return undefined;
  const { audit, refused, missing, socket, modes, opens, first, foreignFrom } = table;
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCH_OFFSET],
    [EQUAL, 1, 0, audit],
    // The same number means another call on another architecture.
    [RETURN, 0, 0, ENOSYS],
    [LOAD, 0, 0, NUMBER_OFFSET],
    ...(foreignFrom === undefined ? [] : when([AT_LEAST, foreignFrom], [[RETURN, 0, 0, ENOSYS]])),
    ...refused.flatMap((number) => when([EQUAL, number], [[RETURN, 0, 0, EPERM]])),
    ...missing.flatMap((number) => when([EQUAL, number], [[RETURN, 0, 0, ENOSYS]])),
    ...Object.entries(modes).flatMap(([number, argument]) => when([EQUAL, Number(number)], refuseBits(argument))),
    ...Object.entries(opens).flatMap(([number, flags]) =>
      when(
        [EQUAL, Number(number)],
        [
          [LOAD, 0, 0, argumentAt(flags)],
          [ANY_OF, 1, 0, CREATES],
          [RETURN, 0, 0, ALLOW], // without these flags the mode is whatever lies in the register
          ...refuseBits(flags + 1),
        ],
      ),
    ),
    ...Object.entries(first).flatMap(([number, argument]) =>
      when(
        [EQUAL, Number(number)],
        [
          [LOAD, 0, 0, argumentAt(argument)],
          [EQUAL, 0, 1, 1],
          [RETURN, 0, 0, EPERM],
          [RETURN, 0, 0, ALLOW],
        ],
      ),
    ),
    ...when(
      [EQUAL, socket],
      [
        [LOAD, 0, 0, argumentAt(0)],
        ...families.map((family, at): Instruction => [EQUAL, families.length - at, 0, family]),
        [RETURN, 0, 0, EAFNOSUPPORT],
        [RETURN, 0, 0, ALLOW],
      ],
    ),
    [RETURN, 0, 0, ALLOW],
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

/** Instructions for one number of a call, and passed over for every other one. */
function when([test, value]: [number, number], then: readonly Instruction[]): Instruction[] {
  return [[test, 0, then.length, value], ...then];
}

/** A file that takes on the rights of its owner would do so for whoever runs it outside. */
function refuseBits(argument: number): Instruction[] {
  return [
    [LOAD, 0, 0, argumentAt(argument)],
    [ANY_OF, 0, 1, SETUID_SETGID],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
}

/** The lower half of an argument: all that these calls look at. */
function argumentAt(index: number): number {
  return 16 + 8 * index;
}

const [LOAD, EQUAL, AT_LEAST, ANY_OF, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [NUMBER_OFFSET, ARCH_OFFSET] = [0, 4];
const [ALLOW, EPERM, ENOSYS, EAFNOSUPPORT] = [0x7fff0000, 0x00050001, 0x00050026, 0x00050061];
const SETUID_SETGID = 0o6000;
/** O_CREAT and O_TMPFILE. */
const CREATES = 0o20000100;

/** Unix, IPv4, IPv6 and netlink. Others, such as those to a virtual machine's host, do not end at the network namespace. */
const families = [1, 2, 10, 16];

type Table = {
  audit: number;
  /** add_key request_key keyctl bpf perf_event_open userfaultfd io_uring_* open_by_handle_at kexec_* init_module finit_ delete_ syslog pidfd_getfd. */
  refused: readonly number[];
  /** openat2: its mode is behind a pointer, where nobody can look. Programs go on with openat. */
  missing: readonly number[];
  socket: number;
  /** Argument with the mode, by call: chmod fchmod creat mknod, fchmodat fchmodat2 mknodat. */
  modes: Readonly<Record<number, number>>;
  /** Argument with the flags of open and openat; the mode comes after it. */
  opens: Readonly<Record<number, number>>;
  /** Argument with the process, by call: ptrace, process_vm_readv and _writev, prlimit64. A first process that is stopped or changed never ends. */
  first: Readonly<Record<number, number>>;
  /** Calls of the x32 ABI. */
  foreignFrom?: number;
};

const tables: Record<string, Table> = {
  x64: {
    audit: 0xc000003e,
    refused: [248, 249, 250, 321, 298, 323, 425, 426, 427, 304, 246, 320, 175, 313, 176, 103, 438],
    missing: [437],
    socket: 41,
    modes: { 90: 1, 91: 1, 85: 1, 133: 1, 268: 2, 452: 2, 259: 2 },
    opens: { 2: 1, 257: 2 },
    first: { 101: 1, 310: 0, 311: 0, 302: 0 },
    foreignFrom: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [217, 218, 219, 280, 241, 282, 425, 426, 427, 265, 104, 294, 105, 273, 106, 116, 438],
    missing: [437],
    socket: 198,
    modes: { 52: 1, 53: 2, 452: 2, 33: 2 },
    opens: { 56: 2 },
    first: { 117: 1, 270: 0, 271: 0, 261: 0 },
  },
};
