/** Who may decide a question, as far as it says so itself. The server decides in the end. */

import type { Intervention } from "../../api/shapes";

/** Options after which a call runs. Where the approver must differ, nobody who asked for it may choose them. */
const LETS_RUN = new Set(["approve", "modify", "retry"]);

export interface Decider {
  /** The options that this person is offered. */
  options: string[];
  /** Why some are missing, and who has them. */
  why: string | undefined;
}

/**
 * `hasRole`: whether this person has the role. `hasAsked`: whether they are known to have asked for the call.
 */
export function deciderOf(one: Intervention, hasRole: (role: string) => boolean, hasAsked: boolean): Decider {
  const roles = rolesOf(one);
  if (!roles.every(hasRole)) {
    return { options: [], why: `Only somebody with ${named(roles)} decides this. You do not have ${roles.length > 1 ? "them all" : "it"}.` };
  }
  if (one.approver_must_differ && hasAsked) {
    const whose = roles.length === 0 ? "somebody else" : `somebody else with ${named(roles)}`;
    return {
      options: one.options.filter((option) => !LETS_RUN.has(option)),
      why: `You asked for this: you started the session, or the agent has words of yours. So ${whose} lets it run. You may refuse it.`,
    };
  }
  return { options: one.options, why: undefined };
}

/** Whether one word of a person can decide it together with others: an approval that is theirs to give. */
export function isDecidedTogether(one: Intervention, hasRole: (role: string) => boolean): boolean {
  return one.type === "approval_required" && !one.approver_must_differ && rolesOf(one).every(hasRole);
}

/** All the roles that whoever decides needs. */
export function rolesOf(one: Intervention): string[] {
  return one.role === null ? [] : [one.role, ...one.also_roles];
}

/** The roles in words. */
export function named(roles: string[]): string {
  return `the role${roles.length > 1 ? "s" : ""} ${roles.join(" and ")}`;
}
