/** A decision about a call. `passthrough` leaves it to the next step. */
export type PermissionBehavior = RuleBehavior | "passthrough";

/** Behaviour of a rule. */
export type RuleBehavior = "allow" | "deny" | "ask";

/** The place of a rule: this session, or one of three settings files. */
export type RuleDestination = "session" | "local" | "project" | "user";

/** Origin of a rule: one of these places, or the policy of the machine, which nobody's answer changes. */
export type RuleSource = RuleDestination | "managed";

/** Settings files that a rule can be saved to. */
export type RuleFiles = Partial<Record<Exclude<RuleDestination, "session">, string>>;

/** Something that changed since a call was shown or judged. */
export type Drift =
  /** `from` and `to` are where the path led then and leads now; absent where it is no link. */
  | { what: "link"; path: string; from?: string; to?: string }
  /** The file that the call changes, or a script that it runs. */
  | { what: "file" | "script"; path: string }
  /** A word of it that stands for something: an alias, a link, settings or hooks of a repository. `to`: its meaning now, where that can be told. */
  | { what: "meaning"; name: string; to?: string }
  /** Files that it would write now and would not have written. */
  | { what: "writes"; paths: readonly string[] }
  /** The tool takes another input than it did. */
  | { what: "tool" }
  /** A newer Sage asked, and this one cannot tell whether the call is still the one that was shown. */
  | { what: "version" };

/** The ways in which a request ends. Only `answered` and `partial` carry a person's reply. */
export type Outcome = "answered" | "partial" | "declined" | "cancelled" | "timed_out" | "superseded" | "no_surface";
