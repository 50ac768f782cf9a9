"""What an operator may add is data that is checked where it is written."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from acta.engine.settings import Settings
from acta.infra.api.issuers import ExternalIssuer
from acta.infra.environments import LOCAL, PROD, Environment
from acta.infra.options import CustomerKey, Domain, Edge, Network, SignInFirewall

CERTIFICATE = "arn:aws:acm:{}:123456789012:certificate/11111111-2222-3333-4444-555555555555"
ORIGIN = Domain("origin.example.com", CERTIFICATE.format("eu-west-1"))
FRONT = Domain("acta.example.com", CERTIFICATE.format("us-east-1"))
HASH, OLDER = "a" * 64, "b" * 64
EDGE = Edge(FRONT, (HASH,))
KEY_ARN = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555"
BOUNDARY = "arn:aws:iam::123456789012:policy/acta/bound"
ELSEWHERE = ExternalIssuer("https://login.example.com/", "acta")
NETWORK = Network(
    vpc_id="vpc-0123456789abcdef0",
    subnet_ids=("subnet-0123456789abcdef0", "subnet-0123456789abcdef1"),
    prefix_list_ids=("pl-01234567", "pl-01234568"),
)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: CustomerKey("arn:aws:kms:eu-west-1:123456789012:alias/mine"), "not of an alias"),
        (lambda: Domain("https://acta.example.com", ORIGIN.certificate_arn), "a host name"),
        (lambda: Domain("Acta.example.com", ORIGIN.certificate_arn), "a host name"),
        (lambda: Domain("acta.example.com", "arn:aws:iam::1:server-certificate/x"), "the ARN of a certificate"),
        (lambda: Edge(ORIGIN, (HASH,)), "a certificate of us-east-1"),
        (lambda: Edge(FRONT, ()), "one SHA-256"),
        (lambda: Edge(FRONT, ("a secret",)), "one SHA-256"),
        (lambda: Edge(FRONT, (HASH,) * 3), "one SHA-256"),
        (lambda: Edge(FRONT, (HASH,), requests_per_address=9), "10 to"),
        (lambda: replace(EDGE, web_acl_arn="arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/x/y"), "CLOUDFRONT"),
        (lambda: SignInFirewall(0), "10 to"),
        (lambda: replace(NETWORK, vpc_id="default"), "the id of a VPC"),
        (lambda: replace(NETWORK, subnet_ids=()), "subnet-"),
        (lambda: replace(NETWORK, prefix_list_ids=("pl-01234567",)), "pl-, at least 2"),
        (lambda: replace(NETWORK, egress=("everywhere",)), "'everywhere'"),
        (lambda: replace(NETWORK, egress=("10.0.0.1/8",)), "'10.0.0.1/8'"),
        (lambda: replace(PROD, permissions_boundary="bound"), "a managed policy"),
        (lambda: replace(PROD, edge=EDGE), "edge needs a domain"),
        (lambda: replace(PROD, edge=replace(EDGE, requests_per_address=1_501), domain=ORIGIN), "1500 at most"),
        (lambda: replace(PROD, edge=EDGE, domain=replace(ORIGIN, name=FRONT.name)), "two names"),
        (lambda: replace(PROD, auth=ELSEWHERE, sign_in_firewall=SignInFirewall()), "own user pool"),
        (lambda: replace(LOCAL, snap_start=True), "functions in AWS"),
        (lambda: replace(PROD, snap_start=True, python=(3, 11)), "Python 3.12"),
        (lambda: replace(LOCAL, key=CustomerKey()), "the local environment takes no key"),
        (lambda: replace(LOCAL, domain=ORIGIN), "the local environment takes no"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_meant_is_refused_and_says_what_can(
    make: Callable[[], object], names: str
) -> None:
    with pytest.raises(ValueError, match=r"^[\w. ]+") as refused:
        make()
    assert names in str(refused.value)


def test_nothing_is_added_unless_it_is_asked_for() -> None:
    plain = Environment(name="x", auth=PROD.auth)
    options = (
        plain.key,
        plain.domain,
        plain.edge,
        plain.sign_in_firewall,
        plain.tool_network,
        plain.permissions_boundary,
    )
    assert options == (None,) * 6
    assert plain.origin_hashes == ""


def test_the_functions_know_both_hashes_while_the_secret_is_being_replaced() -> None:
    replaced = replace(PROD, domain=ORIGIN, edge=replace(EDGE, origin_hashes=(HASH, OLDER)))
    settings = Settings(env="prod", table="t", bucket="b", origin_hashes=replaced.origin_hashes)
    assert settings.origin_hashes.split(",") == [HASH, OLDER]
