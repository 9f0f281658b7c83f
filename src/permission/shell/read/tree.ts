import type { Construct } from "../../../protocol/reasons/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { ShellNode } from "./grammar.ts";

/** The first node that rules may not cover. A closed list: a new node type of the grammar asks until somebody thought about it. */
export function uncoveredNode(root: ShellNode): Reason | undefined {
  let found: ShellNode | undefined;
  visit(root, (node) => {
    found ??= node.named && !isCovered(node) ? node : undefined;
  });
  if (found === undefined) return undefined;
  const construct = constructs[found.type];
  return construct === undefined
    ? reason("node-not-understood", { node: found.type.replaceAll("_", " ") })
    : reason("not-understood", { construct });
}

const covered = new Set(
  (
    "program list pipeline command command_name word number string string_content raw_string ansi_c_string concatenation " +
    "simple_expansion variable_name special_variable_name expansion command_substitution subshell compound_statement " +
    "redirected_statement file_redirect heredoc_redirect heredoc_start heredoc_body heredoc_content heredoc_end " +
    "herestring_redirect file_descriptor variable_assignment variable_assignments negated_command comment " +
    // These two are commands like any other here, and as commands they are found to change what names mean.
    "declaration_command unset_command " +
    "if_statement elif_clause else_clause for_statement while_statement do_group test_command test_operator " +
    "binary_expression unary_expression process_substitution extglob_pattern regex arithmetic_expansion " +
    "parenthesized_expression case_statement case_item c_style_for_statement postfix_expression"
  ).split(" "),
);

const constructs: Record<string, Construct> = {
  function_definition: "functions",
  array: "arrays",
  expansion: "expansion-operators",
  compound_statement: "arithmetic",
};

function isCovered({ type, children }: ShellNode): boolean {
  if (!covered.has(type)) return false;
  switch (type) {
    case "expansion":
      return hasOnly(children, ["variable_name", "special_variable_name", "word", "regex", "number"]);
    case "arithmetic_expansion":
      return hasOnly(children, [
        "number",
        "binary_expression",
        "unary_expression",
        "parenthesized_expression",
        "variable_name",
        "simple_expansion",
      ]);
    case "compound_statement": // braces, not `((…))`
      return children[0]?.type === "{";
    case "for_statement": // not `select`
      return children[0]?.type === "for";
    case "test_command":
      return children[0]?.type === "[" || children[0]?.type === "[[";
    case "process_substitution":
      return children[0]?.type === "<(";
    default:
      return true;
  }
}

function hasOnly(nodes: readonly ShellNode[], types: readonly string[]): boolean {
  return nodes.every((node) => (!node.named || types.includes(node.type)) && hasOnly(node.children, types));
}

/** Every word, operator and substitution of the tree, spelled as our own reader spells its marks. */
export function marksOf(root: ShellNode): string[] {
  const marks: string[] = [];
  const mark = ({ start, end }: ShellNode) => void marks.push(`${start}-${end}`);
  const statements = (node: ShellNode) => {
    for (const child of node.children) {
      if (!child.named) {
        if (operators.has(child.type) || (child.type === "(" && node.type === "subshell")) mark(child);
      } else if (wordLike.has(child.type)) word(child);
      else if (child.type === "command_name") child.children.forEach(word);
      else if (commandLike.has(child.type)) command(child);
      else if (child.type === "case_item") branch(child);
      else if (child.type === "c_style_for_statement") counting(child);
      else if (child.type === "heredoc_end") mark(child);
      else if (child.type === "heredoc_body") inner(child);
      else if (child.type === "process_substitution") {
        mark(child);
        statements(child);
      } else if (child.type === "test_command") test(child);
      else statements(child);
    }
  };
  const command = (node: ShellNode) => {
    // A node that the grammar leaves without a name among the arguments is an argument as well.
    for (const child of node.children) if (!child.named) mark(child);
    statements({ ...node, children: node.children.filter((child) => child.named) });
  };
  /** Patterns up to the parenthesis, and what is done then. */
  const branch = (node: ShellNode) => {
    const at = node.children.findIndex(({ type }) => type === ")") + 1;
    node.children.slice(0, at).forEach(mark);
    statements({ ...node, children: node.children.slice(at) });
  };
  /** Its head is one piece. */
  const counting = (node: ShellNode) => {
    const [from, to] = ["((", "))"].map((sign) => node.children.findIndex(({ type }) => type === sign));
    mark({ ...node, start: node.children[from!]?.start ?? 0, end: node.children[to!]?.end ?? 0 });
    statements({ ...node, children: node.children.filter((_, n) => n < from! || n > to!) });
  };
  const test = (node: ShellNode) => {
    for (const child of node.children) {
      if (!child.named || testLeaves.has(child.type)) mark(child);
      else if (wordLike.has(child.type)) word(child);
      else test(child);
    }
  };
  const word = (node: ShellNode) => {
    mark(node);
    inner({ ...node, children: [node] });
  };
  const inner = (node: ShellNode) => {
    for (const child of node.children) {
      if (child.type !== "command_substitution") inner(child);
      else {
        mark(child);
        statements(child);
      }
    }
  };
  statements(root);
  return marks;
}

const operators = new Set(
  "&& || | |& ; & { } ! if then elif else fi for in while until do done case esac ;;".split(" "),
);

const testLeaves = new Set(["test_operator", "extglob_pattern", "regex"]);

const commandLike = new Set(["command", "declaration_command", "unset_command"]);

const wordLike = new Set(
  (
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion command_substitution " +
    "arithmetic_expansion variable_assignment variable_name heredoc_start"
  ).split(" "),
);

/** The source of each simple command anywhere in the tree, one list of word positions each. */
export function commandsIn(root: ShellNode): { start: number; end: number; words: { start: number; end: number }[] }[] {
  const found: { start: number; end: number; words: { start: number; end: number }[] }[] = [];
  visit(root, (node) => {
    if (!commandLike.has(node.type)) return;
    const words = node.children.filter(({ type }) => !/_redirect$|^variable_assignment$|^subshell$/.test(type));
    found.push({ start: node.start, end: node.end, words });
  });
  return found;
}

/** In the order of the text, without recursion. */
function visit(root: ShellNode, see: (node: ShellNode) => void): void {
  const ahead = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    see(node);
    for (let i = node.children.length - 1; i >= 0; i--) ahead.push(node.children[i]!);
  }
}
