import assert from "node:assert/strict";
import { test } from "node:test";

import type { Intervention } from "../../api/shapes";
import { deciderOf, isDecidedTogether } from "./who-decides";
import { byDefault, consequence, done, isPause, label, reason, subject, title, way } from "./wording";

const OPTIONS: Record<Intervention["type"], string[]> = {
  approval_required: ["approve", "reject", "modify"],
  clarification_needed: ["answer", "skip", "cancel"],
  error_recovery: ["retry", "record", "skip", "cancel"],
  checkpoint_review: ["continue", "cancel"],
  budget_exceeded: ["raise", "finish", "continue", "cancel"],
};
const CALL = { name: "delete_file", input: { path: "a.txt" }, input_hash: "h", shortened: false, input_url: null, question: "May the agent delete a file?", file: null, file_etag: null };

function asked(fields: Partial<Intervention> = {}): Intervention {
  const type = fields.type ?? "approval_required";
  return {
    intervention_id: "int_1", session_id: "ses_1", type, context: { reason: "high_stakes" }, tool_call: CALL, role: null, also_roles: [], chain: [],
    approver_must_differ: false, options: OPTIONS[type], default_action: "reject", timeout_at: null, state: "pending",
    resolution: null, amended: false, input: null, comment: null, resolved_by: null, via: null, resolved_at: null,
    created_at: "2026-01-31T09:30:00.000Z", ...fields,
  };
}

test("a decision says where it came over MCP, and from whom there", () => {
  assert.deepEqual([null, "api", "mcp_form", "mcp"].map((each) => way(each as Intervention["via"])), [
    "",
    "",
    " over MCP, in a form",
    " over MCP, through a model",
  ]);
});

const hasRole = (role: string) => role === "member" || role === "finance";

test("every option of every type has a label, a consequence and a past tense", () => {
  for (const type of Object.keys(OPTIONS) as Intervention["type"][]) {
    for (const tool_call of [CALL, null]) {
      const one = asked({ type, tool_call });
      assert.ok(title(one));
      for (const option of one.options) {
        assert.notEqual(label(option, one), option);
        assert.ok(consequence(option, one), `${type} ${option}`);
        assert.ok(!done(option).startsWith("decided:"));
      }
    }
  }
});

test("a question about a call is asked in the tool's words, where it has some", () => {
  assert.equal(title(asked()), "May the agent delete a file?");
  assert.equal(title(asked({ tool_call: { ...CALL, question: null } })), "May the agent do this?");
  assert.equal(title(asked({ context: { reason: "replaces_file" } })), "May the agent replace a file?");
});

test("every default has a consequence", () => {
  for (const option of ["reject", "cancel", "finish", "continue", "retry", "skip"]) {
    assert.notEqual(byDefault(asked({ default_action: option })), option);
  }
});

test("the page's own sentences hold no words of others", () => {
  const theirs = asked({ context: { reason: "<b>x</b>", question: "<b>y</b>" } });
  assert.ok(![title(theirs), reason(theirs)].join().includes("<b>"));
  assert.deepEqual(subject(theirs), ["delete_file", "a.txt"]);
});

test("a pause is told from a review", () => {
  assert.ok(isPause(asked({ type: "checkpoint_review", context: { requested_by: "ann" } })));
  assert.ok(!isPause(asked({ type: "checkpoint_review", context: {} })));
});

test("whoever lacks the role is offered nothing, and is told whose it is", () => {
  const { options, why } = deciderOf(asked({ role: "legal" }), hasRole, false);
  assert.deepEqual(options, []);
  assert.match(why ?? "", /role legal/);
  assert.deepEqual(deciderOf(asked({ role: "finance" }), hasRole, false).options, OPTIONS.approval_required);
});

test("whoever asked is offered to refuse where the approver must differ", () => {
  const one = asked({ approver_must_differ: true, options: ["approve", "reject"] });
  assert.deepEqual(deciderOf(one, hasRole, true).options, ["reject"]);
  assert.deepEqual(deciderOf(one, hasRole, false).options, ["approve", "reject"]);
});

test("approvals alone are decided together, and those alone that are this person's", () => {
  assert.ok(isDecidedTogether(asked(), hasRole));
  assert.ok(!isDecidedTogether(asked({ role: "legal" }), hasRole));
  assert.ok(!isDecidedTogether(asked({ approver_must_differ: true }), hasRole));
  assert.ok(!isDecidedTogether(asked({ type: "budget_exceeded" }), hasRole));
});
