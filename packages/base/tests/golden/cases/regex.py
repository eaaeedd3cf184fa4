"""Golden cases of regular expressions."""

from collections.abc import Iterator

from oracle import Case, case

from golden.cases.strings import NONE, texts

SUBJECTS = texts("abcabc", "", "a\nc", "héllo", "xaab", "foo.bar", b"a\xffb", "AB12", "part/x")
PATTERNS = [
    "a.c", "a*", ".*", "(a)(b)", "^a", "c$", r"\d+", "(?i)ab.*", "[[:alpha:]]+", r"\bfoo\b", "x|a|",
    r"(?P<n>a+)", r"^s3://.*", "", r"\pL+", "é", r"(a|ab)(c|bcd)?", "(?s)a.c", "a{2}",
]  # fmt: skip
BAD = ["a(", "[", "*", r"\1", "(?=a)", "a{1001}"]


def _regex() -> Iterator[Case]:
    for pattern in PATTERNS:
        yield case("RegexFullMatch", SUBJECTS, pattern)
        yield case("StaticRegexFullMatch", SUBJECTS, pattern=pattern)
        for rewrite in ("-", r"<\0>", r"\1\1", r"\\", ""):
            for every in (True, False):
                yield case("RegexReplace", SUBJECTS, pattern, rewrite, replace_global=every)
        yield case("StaticRegexReplace", SUBJECTS, pattern=pattern, rewrite=r"[\0]")
    for rewrite in (r"a\x", r"\3", "\\"):
        for every in (True, False):
            yield case("RegexReplace", SUBJECTS, "(a)(b)", rewrite, replace_global=every)
    for pattern in BAD:
        yield case("RegexFullMatch", SUBJECTS, pattern, note="refused")
        yield case("StaticRegexFullMatch", SUBJECTS, pattern=pattern, note="refused")
        yield case("RegexReplace", SUBJECTS, pattern, "", note="refused")
    yield case("RegexFullMatch", NONE, "a")


CASES = [*_regex()]
