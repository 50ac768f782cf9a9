"""How far the estimate of a receipt may be from what the bench counts."""

from tests.bench.figures import receipts


def test_what_is_more_than_15_percent_off_is_named_with_its_session() -> None:
    near = {"write units": {"receipt": 114.0, "seen": 100.0}, "USD": {"receipt": 0.00086, "seen": 0.001}}
    far = {"write units": {"receipt": 116.0, "seen": 100.0}, "USD": {"receipt": 0.00084, "seen": 0.001}}

    assert receipts.off({"short": near}) == []
    assert [line.partition(",")[0] for line in receipts.off({"short": near, "long": far})] == [
        "long: write units",
        "long: USD",
    ]


def test_of_a_few_requests_one_more_is_no_error_but_dollars_are_judged_however_few() -> None:
    assert receipts.is_near("S3 puts", 1.4, 0.0)
    assert not receipts.is_near("S3 puts", 3.0, 0.0)
    assert not receipts.is_near("USD", 0.000002, 0.000001)


def test_results_of_another_size_than_the_table_s_are_shown_and_not_judged() -> None:
    assert receipts.off({receipts.UNJUDGED: {"S3 puts": {"receipt": 1.0, "seen": 21.0}}}) == []
