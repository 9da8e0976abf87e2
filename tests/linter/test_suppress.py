"""Comments that hide findings, and TF901."""

from __future__ import annotations

import json
from pathlib import Path

from migrate_lint.linter.finding import Consequence, Finding, Severity
from migrate_lint.linter.source.parsing import SourceFile
from migrate_lint.linter.source.reading import read_source
from migrate_lint.linter.source.suppressions import Suppressions, find_suppressions

CODES = {
    "TF101": "variable-in-call",
    "TF102": "variable-in-loop",
    "TF900": "unparsable-file",
    "TF901": "unused-suppression",
    "TF909": "internal-error",
}


def finding(code: str, line: int, end_line: int | None = None) -> Finding:
    return Finding("m.py", line, 1, end_line or line, 2, code, CODES[code], Severity.ERROR, Consequence.BREAKS, "why")


def comments(text: str) -> Suppressions:
    source = read_source(Path("m.py"), "m.py", text.encode())
    assert isinstance(source, SourceFile)
    return find_suppressions(source)


def left(text: str, *findings: Finding, selected: tuple[str, ...] = tuple(CODES)) -> list[str]:
    """Code, line and column of what remains, the findings' own messages left out."""
    kept = comments(text).apply("m.py", findings, codes=CODES, judged=lambda code: code in selected)
    return [f"{one.code}:{one.line}:{one.column}" for one in kept]


def messages(text: str) -> list[str]:
    return [one.message for one in comments(text).apply("m.py", [], codes=CODES, judged=lambda code: True)]


def test_a_line_comment_hides_findings_of_its_line() -> None:
    """By code or slug, several at once, after another comment."""
    text = "a\nb  # type: int  # migrate-lint: disable=TF101, variable-in-loop because it is fine\nc"

    assert ["TF101:1:1"] == left(text, finding("TF101", 1), finding("TF101", 2), finding("TF102", 2))


def test_a_line_comment_at_the_end_of_a_statement_hides_it() -> None:
    """A call of several lines has no room at its beginning."""
    assert [] == left("f(\n1\n)  # migrate-lint: disable=TF101", finding("TF101", 1, 3))
    assert [] == left("f(  # migrate-lint: disable=TF101\n1\n)", finding("TF101", 1, 3))


def test_what_a_run_adds_is_hidden_without_a_judgement() -> None:
    """Comments that hide nothing of it were judged before."""
    text = "a  # migrate-lint: disable=TF101\nb  # noqa: TF102\nc  # migrate-lint: disable=TF102\n"
    added = [finding("TF101", 1), finding("TF101", 2), finding("TF909", 1)]

    assert added[1:] == comments(text).without_hidden(added, codes=CODES)


def test_a_file_comment_hides_findings_of_the_file() -> None:
    """Wherever it stands."""
    assert ["TF102:9:1"] == left(
        "a\n# migrate-lint: disable-file=TF101", finding("TF101", 1), finding("TF101", 7), finding("TF102", 9)
    )


def test_a_block_hides_what_begins_in_it() -> None:
    """From its line to that of its end, one for each of its names; of one rule it may be named twice."""
    text = (
        "# migrate-lint: disable-start=TF101, variable-in-loop\na\n# migrate-lint: disable-end=TF101\nb\n"
        "# migrate-lint: disable-end=variable-in-loop\nc\n"
    )
    found = [finding(code, line) for line in (2, 4, 6) for code in ("TF101", "TF102")]
    assert ["TF101:4:1", "TF101:6:1", "TF102:6:1"] == left(text, *found)
    begins = finding("TF101", 2, 4)
    assert [] == left("\n# migrate-lint: disable-start=TF101\n# migrate-lint: disable-end=TF101\n", begins)

    twice = (
        "# migrate-lint: disable-start=variable-in-call\n# migrate-lint: disable-start=TF101\n"
        "# migrate-lint: disable-end=TF101\na\n# migrate-lint: disable-end=variable-in-call\n"
    )
    assert [] == left(twice, finding("TF101", 3), finding("TF101", 4))


def test_a_block_without_an_end_hides_nothing() -> None:
    """Nor does an end without a start, or a block within one of the same name: each is told; so is one without use."""
    assert ["TF101:2:1", "TF901:1:1"] == left("# migrate-lint: disable-start=TF101\na\n", finding("TF101", 2))
    assert ["TF101:2:1", "TF901:1:1"] == left("# migrate-lint: disable-end=TF101\na\n", finding("TF101", 2))
    start, end = "# migrate-lint: disable-start=TF101\n", "# migrate-lint: disable-end=TF101\n"
    assert ["TF901:2:1"] == left(f"{start}{start}a\n{end}", finding("TF101", 3))
    assert ["TF101:4:1", "TF901:3:1"] == left(f"{start}{end}{end}a\n", finding("TF101", 1), finding("TF101", 4))
    (message,) = messages(f"{start}a\n{end}")
    assert "the suppression of TF101 hides nothing: there is no such finding from here to its end" == message


def test_noqa_is_read_as_by_others() -> None:
    """Mixed with other tools' codes, in any case, blanket."""
    for comment in ("# noqa: TF101", "# noqa:E501,TF101", "# NOQA: E501 TF101", "# noqa : tf101", "# noqa", "#noqa"):
        assert [] == left(f"a  {comment}", finding("TF101", 1)), comment


def test_noqa_with_other_codes_hides_nothing_of_ours() -> None:
    """Neither is it judged."""
    assert ["TF101:1:1"] == left("a  # noqa: E501, W291", finding("TF101", 1))
    assert ["TF101:1:1"] == left("a  # flake8: noqa", finding("TF101", 1))
    assert ["TF101:1:1"] == left("a  # noqa-ish", finding("TF101", 1))


def test_text_in_strings_is_no_comment() -> None:
    """Only the tokenizer knows."""
    assert ["TF101:1:1"] == left('a = "# noqa"', finding("TF101", 1))
    assert ["TF101:2:1"] == left('"""\n# migrate-lint: disable=TF101\n"""', finding("TF101", 2))


def test_an_unused_code_is_reported_at_its_place() -> None:
    """One finding a code, at the code in the comment."""
    assert ["TF901:1:36"] == left("a  # migrate-lint: disable=TF101,  TF102", finding("TF101", 1))
    assert ["TF901:2:30", "TF901:2:37"] == left("\n# migrate-lint: disable-file=TF101, TF102")
    assert ["TF901:1:18"] == left("a  # noqa: E501, TF101")
    assert ["TF901:1:28"] == left("a  # migrate-lint: disable=variable-in-call")


def test_a_blanket_noqa_is_never_judged() -> None:
    """Nobody knows what it was for."""
    assert [] == left("a  # noqa")


def test_only_selected_rules_are_judged() -> None:
    """A rule that did not look has not found nothing."""
    text = "a  # migrate-lint: disable=TF101"

    assert [] == left(text, selected=("TF102", "TF901"))
    assert [] == left(text, selected=("TF101",))
    assert ["TF901:1:28"] == left(text, selected=("TF101", "TF901"))


def test_a_file_that_failed_is_not_judged() -> None:
    """What was not linted, or only in part, hides nothing by design."""
    assert ["TF909:4:1"] == left("a  # migrate-lint: disable=TF101", finding("TF909", 4))


def test_what_was_not_linted_cannot_be_hidden() -> None:
    """A comment must not make an unread file clean."""
    text = "a  # noqa\n# migrate-lint: disable-file=TF900"

    assert ["TF900:1:1"] == left(text, finding("TF900", 1))


def test_unknown_rules_are_named_with_the_nearest() -> None:
    """Whatever was selected: such a comment never did anything."""
    assert ["TF1011 is no rule; did you mean TF101?"] == messages("# noqa: TF1011")
    assert ["variable-in-cal is no rule; did you mean variable-in-call?"] == messages(
        "# migrate-lint: disable=variable-in-cal"
    )
    assert ["ZZZ is no rule"] == messages("# migrate-lint: disable=ZZZ")


def test_letters_that_were_typed_for_digits_are_seen_through() -> None:
    """`TF1O1` is TF101, whatever else is spelled alike."""
    assert ["TF1O1 is no rule; did you mean TF101?"] == messages("x  # migrate-lint: disable=TF1O1")
    assert ["TF1O1 is no rule; did you mean TF101?"] == messages("x  # noqa: E501, TF1O1")
    assert ["tfl0l is no rule; did you mean TF101?"] == messages("x  # migrate-lint: disable=tfl0l")


def test_a_comment_that_is_not_understood_is_reported() -> None:
    """A typo in the word `disable` would otherwise go unnoticed once the finding is gone."""
    (message,) = messages("# migrate-lint: disabel=TF101")

    assert "write `# migrate-lint: disable=CODE`" in message


def test_an_unused_suppression_can_be_suppressed() -> None:
    """By line, file or noqa; its own use is not judged."""
    assert [] == left("a  # migrate-lint: disable=TF101,TF901")
    assert [] == left("a  # migrate-lint: disable=TF101\n# migrate-lint: disable-file=TF901")


def test_a_file_that_does_not_tokenize_keeps_what_was_read() -> None:
    """The comments before the break count."""
    assert 1 == len(comments("a  # noqa\nx = '''").comments)


def test_columns_count_characters() -> None:
    """As in every report."""
    (comment,) = comments("'日本語'  # noqa: TF101").comments

    assert (("TF101", 16),) == comment.names


def test_suppressions_survive_json() -> None:
    """They are cached with the findings."""
    found = comments("a  # noqa: TF101\n# migrate-lint: disable-file=TF102\n# noqa\n# migrate-lint: oh")

    assert 4 == len(found.comments)
    assert found == Suppressions.from_json(json.loads(json.dumps(found.to_json())))
