"""Where Acta runs in AWS. `acta deploy --env dev` and other commands that use your AWS credentials run this file."""

from dataclasses import replace

from acta.infra.environments import DEV, PROD

ENVIRONMENTS = [
    # Data goes with the stacks when they are destroyed, and people need no second factor.
    replace(
        DEV,
        # With its account and region it is never deployed anywhere else.
        # account="111111111111",
        # region="eu-west-1",
        #
        # A program that applies the agents from CI (README.md), in the tenant acme. Import Machine and OwnPool, too.
        # auth=OwnPool(machines={"ci": Machine("acme", ("member", "admin"))}),
    ),
    # Data stays, deletion is refused, people need a second factor, and nobody approves a call that they asked for.
    replace(
        PROD,
        # account="222222222222",
        # region="eu-west-1",
        #
        # Four points that only you can decide. The first `acta deploy --env prod` asks for those that are not here.
        # default_visibility="private",
        # retention=replace(PROD.retention, ended_sessions=90),
        # watch=replace(PROD.watch, emails=("oncall@example.com",)),
        # tool_network=False,
    ),
]
