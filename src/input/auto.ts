import type { AutoResponder, AutoResponse, InputRequest, Resolution } from "../protocol/index.ts";

/**
 * What is answered where nobody may be asked. Nothing is ever allowed because nobody was there:
 * `alwaysAllow` is a person's standing order for ordinary permissions, and for those alone.
 */
export function autoResolve(auto: Exclude<AutoResponse, AutoResponder>, request: InputRequest): Resolution {
  const frame = { requestId: request.id, by: "auto", surface: auto, at: Date.now() };
  if (request.kind !== "permission") {
    return auto === "alwaysDeny"
      ? { ...frame, outcome: "declined", reason: "this run declines every question" }
      : { ...frame, outcome: "no_surface", reason: "nobody can be asked in this run" };
  }
  const requestId = request.id;
  if (auto === "alwaysDeny")
    return {
      ...frame,
      outcome: "answered",
      response: { type: "denied", requestId, reason: "this run denies every permission request" },
    };
  if (auto === "default") return { ...frame, outcome: "no_surface", reason: "nobody can be asked in this run" };
  if (request.hard)
    return {
      ...frame,
      outcome: "answered",
      response: {
        type: "denied",
        requestId,
        reason: "only a person may allow this one, and nobody can be asked in this run",
      },
    };
  return { ...frame, outcome: "answered", response: { type: "granted", requestId } };
}
