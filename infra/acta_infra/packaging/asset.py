"""A function's bundle as a CDK asset, built on this machine without Docker."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from acta_infra.environments import Environment
from acta_infra.packaging.bundle import ROOT, Bundler, copy_tree
from acta_infra.packaging.install import target_of
from acta_infra.packaging.tool_folders import BuiltFolder
from acta_infra.sizing import FunctionName


def code_of(
    function: FunctionName, environment: Environment, added: Mapping[Path, bytes] | None = None
) -> lambda_.Code:
    """The asset's hash is the bundle's key, so CDK does not build or upload an unchanged bundle again. `added`: as
    `Bundler.added`.
    """
    bundler = Bundler(target_of(environment), offline=environment.offline, added=added or {})
    return lambda_.Code.from_asset(
        str(ROOT / "functions" / function),
        asset_hash=bundler.key(function),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(
            image=DockerImage.from_registry("acta-is-bundled-without-docker"),
            local=_Local(bundler, function),
        ),
    )


def code_of_folder(built: BuiltFolder) -> lambda_.Code:
    return lambda_.Code.from_asset(
        str(built.path), asset_hash=built.key, asset_hash_type=AssetHashType.CUSTOM
    )


@jsii.implements(ILocalBundling)
class _Local:
    def __init__(self, bundler: Bundler, function: FunctionName) -> None:
        self._bundler = bundler
        self._function = function

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        copy_tree(self._bundler.build(self._function), Path(output_dir))
        return True
