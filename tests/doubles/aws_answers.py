"""An AWS account that answers what a test says. Each request and each answer has to be one that AWS's own description
of the operation allows, so that no test relies on a field that AWS does not have.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters

from acta.infra.deployed.account import Account

Answers = dict[str, Any]
"""`service.operation` -> the answer, an error, or a function from the request to one of them; a list is answered one
after the other, and its last one again and again."""


def refused(code: str, status: int = 400) -> ClientError:
    error: Any = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(error, "Operation")


@cache
def described(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


@cache
def operation_of(service: str, method: str) -> Any:
    model = described(service)
    (name,) = (each for each in model.operation_names if xform_name(each) == method)
    return model.operation_model(name)


class AnsweringAccount(Account):
    """`answers`: as above. `asked`: the requests, as `service.operation` and parameters."""

    answers: Answers
    asked: list[tuple[str, Mapping[str, Any]]]

    def client(self, service: str, **_: Any) -> Any:
        return AnsweringClient(self, service)


class AnsweringClient:
    def __init__(self, account: AnsweringAccount, service: str) -> None:
        self._account = account
        self._service = service

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda **parameters: self._answer(method, parameters)

    def get_paginator(self, method: str) -> Any:
        account, service = self._account, self._service

        class Pages:
            def paginate(self, **parameters: Any) -> Any:
                yield AnsweringClient(account, service)._answer(method, parameters)

        return Pages()

    def _answer(self, method: str, parameters: Mapping[str, Any]) -> Any:
        operation, name = operation_of(self._service, method), f"{self._service}.{method}"
        validate_parameters(dict(parameters), operation.input_shape)
        self._account.asked.append((name, parameters))
        answer = self._account.answers[name]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(parameters)
        if isinstance(answer, Exception):
            raise answer
        if operation.output_shape is not None:
            told = {key: value for key, value in answer.items() if not hasattr(value, "read")}
            validate_parameters(told, operation.output_shape)
        return answer


def account_with(answers: Answers, environment: str = "prod") -> AnsweringAccount:
    made = AnsweringAccount(environment)
    made.answers, made.asked = answers, []
    return made
