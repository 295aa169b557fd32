"""Secrets in a text, found by their shapes: what no prompt carries away, and what nobody learns. Pure.

A table of shapes: tokens by their prefixes, what stands behind the word "password" in a dozen languages, and numbers
whose check digits add up. Shapes miss what has none (a password told in passing), and now and then take an ordinary
number for a secret.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from braid.text.hinted import Hints, hints

MARK: Final = "REDACTED_"
"""Begins each placeholder that stands for a secret; it is none itself."""

_PREFIXED: Final = (
    r"sk-[A-Za-z0-9_-]{16,}|(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}|whsec_[0-9A-Za-z]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|gl(?:pat|dt|ft|soat|rt|ptt|oas"
    r"|imt)-[A-Za-z0-9_-]{20,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA|ABIA|A3T[A-Z0-9])[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,}|hf_[A-Za-z0-9]{30,}"
    r"|npm_[A-Za-z0-9]{36}"
    r"|pypi-[A-Za-z0-9_-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}|(?:gsk|xai|r8|dop_v1|shpat|glsa|nvapi"
    r"|tvly)[_-][A-Za-z0-9_-]{20,}"
    r"|sq0(?:csp|atp)-[\w-]{20,}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|AGE-SECRET-KEY-1[0-9A-Z]{40,}"
    r"|\d{8,10}:AA[\w-]{30,}|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|https://hooks\.slack\.com/services/[\w/]+"
)
_WORDS_FOR_ONE: Final = (
    r"pass(?:word|phrase|wd|code)|pwd|passw(?:o|ö)rte?r?|kennwort|mot de passe|contraseña|contrasena"
    r"|clave|senha|palavra-passe"
    r"|wachtwoord|hasło|parola|şifre|пароль|пароля|密码|密碼|パスワード|暗証番号|비밀번호|पासवर्ड"
    r"|كلمة (?:المرور|السر)"
)
_KEY_WORDS: Final = (
    r"api[ _-]?(?:key|token)|secret(?:[ _-]?(?:key|access[ _-]?key))?|access[ _-]?(?:key|token)"
    r"|auth[ _-]?token"
    r"|client[ _-]?secret|private[ _-]?key|bearer[ _-]?token|account[ _-]?key|token"
)
_IS: Final = r"(?:\s+(?:is now|was|is|ist|lautet|est|es|é|jest|это|है|هي)\b|\s*(?:は|是|为))"
_GIVEN: Final = r"['\"`]?\s*(?:[:=\uff1a\uff1d]+>?|->)\s*"
_VALUE: Final = (
    r"(?:\"(?P<a>[^\"\n]{3,4096})\"|'(?P<b>[^'\n]{3,4096})'|`(?P<c>[^`\n]{3,4096})`"
    r"|(?P<d>[^\s,;\"'`<>]{3,4096}))"
)
_CODE_WORDS: Final = (
    r"(?:one[- ]time|verification|security|login|log-in|sign-?in|sms|2fa|mfa|auth(?:entication|orisation"
    r"|orization)?|confirmation"
    r"|access|door|gate|alarm)\s+(?:pass)?(?:code|password|pin)|otp|passcode|pin (?:code|number)"
    r"|(?:bestätigungs|sicherheits|einmal|zugangs)code|code de (?:vérification|sécurité|confirmation)"
    r"|código de (?:verificación|seguridad|verificação|segurança)|код(?: подтверждения)?|验证码|驗證碼"
    r"|認証コード|인증번호|رمز التحقق"
)
_SHORT_CODE_WORDS: Final = (
    r"pin|tan|(?<!zip )(?<!area )(?<!post )(?<!postal )(?<!country )(?<!error )(?<!status )(?<!exit )"
    r"(?<!dress )(?<!sort )code"
)
"""Words that mean much else: a number must be stated for them."""
_SPOKEN_OF: Final = """
a an and always are at been best correct easy enough expired for forgotten gone good good-enough hard here
important in incorrect invalid it just known longer lost missing mine my never needed no none not now of on
our out required reset right safe same saved secure shared so still stored strong stronger that the there
this to too under unknown unsafe very weak what where with wrong yes your changed managed manager protected
policy protection strength hygiene set written falsch richtig sicher wichtig vergessen incorrecto incorrecta
oublié
"""
_NOT_A_SECRET: Final = frozenset(_SPOKEN_OF.split())


class Shape(msgspec.Struct, frozen=True):
    """A kind of secret. `spans` gives the places of secrets in a text."""

    name: str
    spans: Callable[[str], list[tuple[int, int]]]
    needs: Hints | None = None
    """Without which a text has no such secret; None: not known."""


def _all(pattern: str, flags: int = 0) -> Callable[[str], list[tuple[int, int]]]:
    """Return what finds a pattern: its first group that matched, else all of it."""
    compiled = re.compile(pattern, flags)

    def spans(text: str) -> list[tuple[int, int]]:
        return [match.span(match.lastindex or 0) for match in compiled.finditer(text)]

    return spans


def _stated(words: str, *, plainly: bool) -> Callable[[str], list[tuple[int, int]]]:
    """Return what finds the value that is stated for a word. `plainly`: "the word is VALUE" states it too."""
    given = re.compile(rf"(?:{words}){_GIVEN}{_VALUE}", re.IGNORECASE)
    said = re.compile(rf"(?:{words})(?:\s+\S+){{0,3}}?{_IS}\s*[:\uff1a]?\s*{_VALUE}", re.IGNORECASE)

    def spans(text: str) -> list[tuple[int, int]]:
        found = [match for match in given.finditer(text) if not _is_word(match)]
        if plainly:
            found += [match for match in said.finditer(text) if not _is_word(match)]
        return _apart([_trimmed(text, match.span(match.lastgroup or 0)) for match in found])

    return spans


def _is_word(match: re.Match[str]) -> bool:
    """Whether what stands in a secret's place only speaks about it ("the password is wrong")."""
    value = match[match.lastgroup or 0].rstrip(".!?)]}")
    return value.lower() in _NOT_A_SECRET or len(value) < 3 or value.startswith((MARK, "http://", "https://"))


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    return start, start + len(text[start:end].rstrip(".)]}。"))


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, none over another."""
    kept: list[tuple[int, int]] = []
    for span in sorted(set(spans)):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


_CARD: Final = re.compile(r"(?<![\w.-])[2-6](?:[ -]?\d){12,18}(?![\w-])")
_IBAN: Final = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?!\w)", re.IGNORECASE)


def _cards(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _CARD.finditer(text) if _luhn(match[0])]


def _luhn(number: str) -> bool:
    digits = [int(c) for c in reversed(number) if c.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _ibans(text: str) -> list[tuple[int, int]]:
    """Return the account numbers; words may follow one without a comma, so shorter readings are tried too."""
    found: list[tuple[int, int]] = []
    for match in _IBAN.finditer(text):
        ends = [match.end(), *(match.start() + gap.start() for gap in re.finditer(r"[ -]", match[0]))]
        sums = (end for end in sorted(ends, reverse=True) if _mod_97(text[match.start() : end]))
        if (end := next(sums, None)) is not None:
            found.append((match.start(), end))
    return found


def _mod_97(account: str) -> bool:
    """ISO 13616: letters as numbers, the first four characters last, the remainder 1."""
    plain = re.sub(r"[ -]", "", account).upper()
    moved = plain[4:] + plain[:4]
    return (
        15 <= len(plain) <= 34 and plain.isascii() and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1
    )


_DIGIT: Final = hints("0 1 2 3 4 5 6 7 8 9")
SHAPES: Final = (
    Shape(
        "PRIVATEKEY",
        _all(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
            r"|\Z)"
            r"|PuTTY-User-Key-File-\d.*\Z",
            re.DOTALL,
        ),
        hints("begin putty"),
    ),
    Shape("TOKEN", _all(rf"(?<![\w-])(?:{_PREFIXED})(?![\w])")),
    Shape(
        "TOKEN",
        _all(r"\b(?:bearer|basic)\s+([A-Za-z0-9+/_.~-]{16,}=*)", re.IGNORECASE),
        hints("bearer basic"),
    ),
    Shape("PASSWORD", _all(r"\w://[^\s:/@]*:([^\s/@]{2,})@"), hints("://")),
    Shape("IBAN", _ibans, _DIGIT),
    Shape("CARD", _cards, _DIGIT),
    Shape("SSN", _all(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"), _DIGIT),
    Shape(
        "CODE",
        _all(
            rf"(?<!\w)(?:{_CODE_WORDS})(?!\w)[^\d\n.!?]{{0,24}}?(?:{_IS}|[:\uff1a#]"
            rf"|\s)\s*['\"]?(?:G-)?(\d{{3}}[ -]\d{{3}}|\d{{4,8}})(?![\w-])"
            rf"|(?<!\w)(?:{_SHORT_CODE_WORDS})\s*(?:{_IS}\s*[:\uff1a]?"
            rf"|[:\uff1a#=])\s*['\"]?(\d{{3}}[ -]\d{{3}}|\d{{4,8}})(?![\w-])"
            r"|(?<![\w-])(?:G-)?(\d{3}[ -]\d{3}|\d{4,8})\s+is\s+(?:your|the|my)\s[^.\n]{0,40}?\bcode\b",
            re.IGNORECASE,
        ),
        hints("code pin otp tan pass"),
    ),
    Shape("KEY", _stated(_KEY_WORDS, plainly=False), hints("key token secret")),
    Shape(
        "PASSWORD",
        _stated(_WORDS_FOR_ONE, plainly=True),
        hints("pass pwd kennwort contrase clave senha palavra wachtwoord parola"),
    ),
)
"""Every kind that is looked for, in this order."""
_ID_WORDS: Final = (
    r"passport|(?:social|national) (?:security|insurance)|\bssn\b|\bnino?\b|driv(?:er['’]?s|ing) licen[cs]e"
    r"|tax (?:id|payer id|file)|\btfn\b|\bnhs\b|medicare|aadhaar|\bpan (?=card|number)|identity card"
    r"|(?:national )?\bid (?=card|number)|green card|visa number|insurance policy|bank account|account number"
    r"|routing number|sort code"
)
_ID_VALUE: Final = (
    r"(?=[A-Z0-9 -]*\d[ -]?\d)(?:[A-Z]{0,3}[ -]?\d[\dA-Z]*(?:[ -](?=\d)[\dA-Z]{2,}){0,4})(?![\w@])"
)
IDENTITY: Final = (
    Shape(
        "ID",
        _all(
            rf"(?:{_ID_WORDS})(?:\s*(?:card|number|no\.?|id|#|code))*(?:\s+(?:on|of|for)(?:\s+\w+){{1,3}}?)?"
            rf"\s*(?:is|was|:|=|#|,|-)?\s*({_ID_VALUE})",
            re.IGNORECASE,
        ),
        hints(
            "passport security insurance ssn nin licen tax tfn nhs medicare aadhaar pan_ identity id_ green_card"
            " visa policy account routing sort_code"
        ),
    ),
    Shape("CVV", _all(r"\b(?:cvv2?|cvc2?|security code)\b\D{0,8}(\d{3,4})(?!\w)", re.IGNORECASE), _DIGIT),
)
"""Numbers by which a person or an account is known, stated for a word: no secrets to a model, but nothing to learn."""
STATED: Final = (
    Shape(
        "LOGIN",
        _all(
            r"\b(?:log-?ins?|log-?in details|credentials?|creds)\b[^.\n]{0,30}?(?:is|are|:|=)\s*"
            r"(\S+\s*(?:/|and|with|,)\s*(?=\S*[\d@])\S+)",
            re.IGNORECASE,
        ),
        hints("login log-in cred"),
    ),
    Shape(
        "CODE",
        _all(r"\b(?:pin|passcode|unlock code)\s+(\d{4,8})\b", re.IGNORECASE),
        hints("pin passcode unlock"),
    ),
    Shape(
        "PASSWORD",
        _all(r"\b(?:pass|pw|pwd|passwd|psk)\s*[:=]\s*(\S{4,})", re.IGNORECASE),
        hints("pass pw psk"),
    ),
    Shape(
        "PASSWORD",
        _all(
            r"\b(?:pass(?:word|phrase|code)?|pin)\b[^.\n]{0,20}?\bto\s+"
            r"((?=\S*(?:\d|[^\w\s.,;:!?'\"-]))\S{4,})",
            re.IGNORECASE,
        ),
        hints("pass pin"),
    ),
    Shape(
        "SEED",
        _all(
            r"\b(?i:2fa|mfa|totp|otp|recovery|seed|backup)\s*(?i:seed|secret|key|codes?|phrase)?\s*(?i:is|are|:|=)?\s*"
            r"([A-Z2-7]{12,}|(?:[a-z]+ ){11,23}[a-z]+|\d{4,8}(?:[ ,-]+\d{4,8})+)(?!\w)"
        ),
        hints("2fa mfa otp recovery seed backup"),
    ),
    Shape("TOKEN", _all(r"(?<!\w)((?:sk|pk|rk)_(?:live|test)_\w{8,})", re.IGNORECASE), hints("sk pk rk")),
    Shape(
        "ANSWER",
        _all(
            r"\b(?:maiden name|first pet|security (?:question|answer)s?)\b(?:\s+(?:is|was|:))*\s+([\w'-]+)"
            r"(?=[^\n]*\bsecurity (?:question|answer)s?\b|[^\n]*\banswers\b)",
            re.IGNORECASE,
        ),
        hints("maiden pet security"),
    ),
)
"""Secrets as people state them in passing. A redaction of prompts leaves them alone, for they meet plain words too."""


def found(text: str, shapes: tuple[Shape, ...] = SHAPES) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, the first character and the end of each secret of these shapes; two may lie over each other."""
    low = text.lower()
    for shape in shapes:
        if shape.needs is not None and not shape.needs.may_be_in(text, low):
            continue
        for start, end in shape.spans(text):
            yield shape.name, start, end
