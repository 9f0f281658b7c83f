import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import type { AutoResponder, AutoResponse } from "../protocol/host/options.ts";
import { reason } from "../protocol/reasons/reason.ts";

/** Answers where nobody may be asked. `alwaysAllow` is a standing order of a person, for ordinary permissions alone. */
export function autoResolve(auto: Exclude<AutoResponse, AutoResponder>, request: InputRequest): Resolution {
  const frame = { requestId: request.id, by: "auto", surface: auto, at: Date.now() };
  if (request.kind !== "permission") {
    return auto === "alwaysDeny"
      ? { ...frame, outcome: "declined", reason: reason("run-declines-questions", {}) }
      : { ...frame, outcome: "no_surface", reason: reason("nobody-to-ask", {}) };
  }
  const requestId = request.id;
  if (auto === "alwaysDeny")
    return {
      ...frame,
      outcome: "answered",
      response: { type: "denied", requestId },
      reason: reason("run-denies-permissions", {}),
    };
  // Any other word, too: code without types may have spelled one wrong.
  if (auto !== "alwaysAllow") return { ...frame, outcome: "no_surface", reason: reason("nobody-to-ask", {}) };
  if (request.hard || request.signed)
    return {
      ...frame,
      outcome: "answered",
      response: { type: "denied", requestId },
      reason: reason("only-a-person-may-allow", {}),
    };
  return { ...frame, outcome: "answered", response: { type: "granted", requestId } };
}
