"""What AWS removes by itself: nothing of the bucket that is still current (design §6.1)."""

from tests.infra.conftest import Synthesised

HARMLESS = {"Status", "Id", "AbortIncompleteMultipartUpload", "NoncurrentVersionExpiration"}


def test_no_lifecycle_rule_touches_a_current_object(each: Synthesised) -> None:
    (bucket,) = each.stateful.properties("AWS::S3::Bucket")
    for rule in bucket["LifecycleConfiguration"]["Rules"]:
        assert set(rule) <= HARMLESS


def test_a_version_that_was_replaced_is_kept_for_a_month_where_versions_are_kept(each: Synthesised) -> None:
    (bucket,) = each.stateful.properties("AWS::S3::Bucket")
    kept = [
        rule["NoncurrentVersionExpiration"]["NoncurrentDays"]
        for rule in bucket["LifecycleConfiguration"]["Rules"]
        if "NoncurrentVersionExpiration" in rule
    ]
    assert kept == ([30] if each.environment.versioned_files else [])
