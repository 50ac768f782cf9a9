"""All commands of `acta`."""

import click

from acta.cli.commands import definitions, deployment, sessions, sign_in
from acta.cli.commands.grammar import Group


def show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import version  # imported only now: it reads what is installed

    click.echo(f"acta {version('acta-agents')}")
    context.exit()


ACTA = Group(
    "acta",
    "Runs autonomous LLM agents on your own AWS account. SESSION is an id, its beginning, or `last`.",
    *deployment.LOCAL,
    *sessions.COMMANDS,
    *definitions.COMMANDS,
    *sign_in.COMMANDS,
    *deployment.OPERATIONS,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show_version,
            help="Show the version.",
        )
    ],
)
