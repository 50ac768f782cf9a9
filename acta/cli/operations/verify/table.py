"""Every check of `acta verify`, in the order in which they run: those that only read, those that start sessions, those
that change something for a moment, and those that look at what all of these left behind.
"""

from acta.cli.operations.verify import api, aws, changes
from acta.cli.operations.verify.checks import Check

NO_SUCH_SERVICE = "The local AWS does not have this service, or answers for it without looking."
NO_QUOTAS = "The local AWS has no quotas."
NO_METRICS = "The local AWS reads no metrics out of log lines and counts none of its own."
NO_ALARMS = "The local stack has no alarms, because the local AWS has no metrics."
NO_REPORTS = (
    "The local AWS writes no report of a cold start, and starts functions as processes of this machine."
)
NO_PACKING = "The local AWS packs no session policies."
NO_VERSIONS = "Locally an alias names $LATEST, which AWS lets no alias share."
NO_LIMITS = "The local AWS kills no worker for its memory, and gives a worker at least a minute."
NO_ACCESS_LOG = "The local gateway writes no access log."

CHECKS = (
    Check(
        "stacks_never_failed", aws.stacks_never_failed,
        "Every stack in the deployment's region was created and changed without an error in 90 days.",
        "Whether CloudFormation makes all of it: with roles that are minutes old, 80 routes, and what an earlier "
        "deployment left.", not_here="The local AWS takes templates that AWS refuses.",
    ),
    Check(
        "narrow_rights", aws.deployed_with_narrow_rights,
        "The deployment was made with the narrow policies of `acta deploy --policies`.",
        "Whether the narrow policies allow every resource, its name and its log deliveries.",
        not_here="The local AWS does not ask CloudFormation's role.",
    ),
    Check(
        "concurrency", aws.account_has_concurrency,
        "The account has the concurrent executions that the environment reserves, and at least 100.",
        "How many executions the account has; new accounts begin with 10.", not_here=NO_QUOTAS,
    ),
    Check(
        "posture", aws.posture_holds, "Each point of the posture is as the environment's entry says.",
        "What AWS made of the options.",
    ),
    Check(
        "one_release", aws.aliases_name_one_release, "All aliases name functions of one release.",
        "What CloudFormation makes of versions and aliases.",
    ),
    Check(
        "functions_ready", aws.functions_are_ready,
        "Lambda can start every function, on the architecture and with the snapshots that it should have.",
        "Whether the zips fit, and whether the region has SnapStart for them.",
        not_here="The local AWS looks at no zip before a call.",
    ),
    Check(
        "tools_apart", aws.tools_serve_one_tenant, "A process of a Python tool serves one tenant.",
        "Whether Lambda isolates tenants as the template says.",
    ),
    Check(
        "logs_end", aws.logs_end, "Each function has its log, which ends after the days that the environment names.",
        "Whether CloudFormation takes over logs that an earlier deployment left.",
        not_here="The local stack keeps its logs for ever.",
    ),
    Check(
        "definition", aws.definition_is_valid, "Step Functions finds no error in the state machine.",
        "Whether AWS's own parser takes the JSONata expressions.", not_here=NO_SUCH_SERVICE,
    ),
    Check(
        "policies_valid", aws.policies_are_valid, "IAM finds no error in the policy of any function's role.",
        "Whether actions, resources and conditions belong together.", not_here=NO_SUCH_SERVICE,
    ),
    Check(
        "tenants_apart", aws.tenants_are_apart,
        "IAM refuses one tenant's request what belongs to another tenant, and allows what is its own.",
        "Whether IAM keeps tenants apart, which is one of the guarantees.", not_here=NO_SUCH_SERVICE,
    ),
    Check(
        "restorable", aws.tables_can_be_restored, "The table can be restored to an earlier time.",
        "Whether point-in-time recovery is on.", not_here="The local stack keeps no earlier states of its table.",
    ),
    Check(
        "answers", api.answers_without_a_token, "The API answers, and how quickly without any work.",
        "How the gateway, its certificate and its name behave.",
    ),
    Check(
        "no_token", api.refuses_bad_tokens,
        "The gateway refuses a request without a token and one with a forged one.",
        "What the gateway's authorizer refuses.",
    ),
    Check(
        "signed_urls", api.refuses_made_up_urls,
        "The function wake reads its key, and refuses a URL that nobody has signed.",
        "Whether the function has its secret, and its route its way through the gateway.",
    ),
    Check(
        "mcp_pages", api.browsers_may_call_mcp, "A browser lets an allowed page use MCP.",
        "What the gateway answers when a browser asks before a page's first request.",
    ),
    Check(
        "sign_in", api.people_sign_in, "A person's sign-in is accepted, and renewed.",
        "How the user pool, or your issuer, signs people in at a command line.",
    ),
    Check(
        "keys", api.keys_work, "A model's provider takes its key.",
        "Whether a function reads the key in Secrets Manager and reaches the provider.",
    ),
    Check(
        "files", api.files_are_kept, "A private file is written, read and listed.",
        "Whether a tenant's credentials reach S3.", "a session",
    ),
    Check(
        "large_file", api.large_files_pass, "A file of the largest size that Acta takes goes up and comes down.",
        "Whether 4 MiB in base64 pass the gateway and Lambda, which takes 6 MB.", "a session",
    ),
    Check(
        "session", api.session_ends, "A session comes to its end.",
        "Whether the state machine, every role in it and every store work together.", "a session", sessions=1,
    ),
    Check(
        "turns", api.turns_are_quick, "Between two steps of a session the engine needs less than three seconds.",
        "How quick Step Functions, Lambda and DynamoDB are.", "a session",
    ),
    Check(
        "listed", api.sessions_are_listed, "The session is in the list of sessions.",
        "Whether a condition on keys holds for an index as it does for the table.", "a session",
    ),
    Check(
        "approval", api.people_approve, "A person's decision wakes a session at once, and a long poll is held.",
        "Whether a right on the state machine alone allows SendTaskSuccess, and whether the gateway holds a poll "
        "for 20 seconds.", "a session", sessions=1,
    ),
    Check(
        "notified", api.people_are_notified, "A question is sent to the environment's receiver of notifications.",
        "Whether the stream, the queue and the receiver work together.", "a session",
    ),
    Check(
        "logs", api.logs_tell_the_story, "The session's log lines arrive, and have none of its content.",
        "Whether Lambda's own lines have anything of an event.", "a session",
    ),
    Check(
        "usage", api.usage_is_counted, "What is counted of the tenant's usage grows by at least the session's tokens.",
        "Whether the table's stream reaches its function.", "a session",
    ),
    Check(
        "audit", api.actions_are_recorded, "The audit trail says that the session was started.",
        "Whether the trail's table and its key can be reached.", "a session",
    ),
    Check(
        "access_log", aws.access_log_is_written, "The gateway writes its access log.",
        "Whether the gateway's log delivery was set up.", not_here=NO_ACCESS_LOG,
    ),
    Check(
        "alarms", aws.no_alarm_rings, "No alarm is raised.", "How alarms judge their real metrics.",
        not_here=NO_ALARMS,
    ),
    Check(
        "first_hour", aws.no_alarm_rang_at_first, "No alarm was raised only because a deployment was new.",
        "How CloudWatch judges an alarm that has no data yet.", not_here=NO_ALARMS,
    ),
    Check(
        "alarm_rings", changes.alarm_rings, "An alarm that is raised reaches its topic.",
        "Whether CloudWatch may publish to the topic, also to an encrypted one.", "a change", NO_ALARMS,
    ),
    Check(
        "alias_shifts", changes.alias_shifts_and_returns,
        "Calls follow an alias to half, to all and to none of a new version, within a minute each.",
        "How soon calls follow an alias.", "a change", NO_VERSIONS,
    ),
    Check(
        "rollback", changes.release_goes_back,
        "A session works after a rollback, and the newer release is live again.",
        "Whether sessions go on with the functions of another release.", "a change", sessions=1,
    ),
    Check(
        "lost_execution", changes.lost_execution_goes_on,
        "A session whose execution was stopped goes on in the next.",
        "Whether EventBridge tells `recover` that an execution has ended.", "a change", sessions=1,
    ),
    Check(
        "out_of_memory", changes.memory_runs_out,
        "A session whose workers are killed for their memory goes on, and the error counts as a lost worker.",
        "What Step Functions calls this error: its guide and Lambda's differ.", "a change", NO_LIMITS, sessions=1,
    ),
    Check(
        "out_of_time", changes.time_runs_out, "The same for workers that do not end in their time.",
        "What Step Functions calls this error.", "a change", NO_LIMITS, sessions=1,
    ),
    Check(
        "packed_policies", aws.policies_fit_when_packed, "The policies of this deployment's tenants fit when packed.",
        "How large a session policy is when AWS has packed it: neither the format nor the limit is published.",
        not_here=NO_PACKING,
    ),
    Check(
        "rounds", aws.recovery_runs_each_minute, "Each round of recovery is made each minute, and counted.",
        "Whether the schedule holds, and whether CloudWatch reads metrics out of log lines.", not_here=NO_METRICS,
    ),
    Check(
        "dashboard", aws.dashboard_shows_values, "The dashboard's searches find values.",
        "Whether a search takes a namespace with hyphens.", not_here=NO_METRICS,
    ),
    Check(
        "cold_starts", aws.functions_start_fast, "Functions start within ten seconds; how fast, in how much memory.",
        "How long a cold start takes, and how much memory a process has.", not_here=NO_REPORTS,
    ),
    Check(
        "hour", aws.rest_costs_little,
        "Recovery costs in an hour what docs/costs.md says; what the hour cost in all.",
        "What AWS counts: calls, milliseconds, units.", not_here=NO_METRICS,
    ),
    Check(
        "spans", aws.spans_arrive, "The receiver of traces takes every span.",
        "Whether X-Ray's OTLP endpoint, or yours, takes the spans.",
    ),
)  # fmt: skip
