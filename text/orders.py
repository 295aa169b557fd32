"""Texts that give a model orders: memory may hold them, but an answer can't rest on them. Pure.

A table of what such texts say, in a dozen languages, over a text without its disguises (invisible characters, letters
that look like others, full-width forms, spaces between letters). It is not the wall: that is the fence, and that only a
sentence which cited memory bears out is kept. It takes away what is left, a model that obeys a memory and cites it.
"""

import re
import unicodedata
from typing import Final

from braid.text.hinted import hints
from braid.text.words import listed

_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝвкмнтАЕОРСУХІЈЅВКМНТαεορυχικντΑΕΟΡΥΧΙΚΝΤΒΗΜΖ",
    "aeopcyxijshdqwbkmhtAEOPCYXIJSBKMHTaeopuxikvtAEOPYXIKNTBHMZ",
)
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[ ._*-]){4,}\w(?!\w)")
_SAID: Final = (
    r"\b(?:ignor\w*|disregard\w*|forget\w*|overrid\w*|bypass\w*|skip)\b.{0,30}\b(?:previous|prior|above"
    r"|earlier|all|any|your|these)\b"
    r".{0,30}\b(?:instruction|direction|rule|prompt|message|context|guideline|command|order|polic)\w*",
    r"\b(?:you are (?:now|no longer)|from now on,? (?:you|answer|reply|respond)|act as|pretend (?:to be"
    r"|you)|new (?:system )?(?:instruction|rule|task|prompt)s?\b"
    r"|developer mode|jailbr\w+|dan mode|do anything now|stop being)",
    r"(?:^|[.!?:,;>\"'\n-]\s*|\b(?:and|then|now|please|must|should|you|always|to|it|that)\s+)(?:answer"
    r"|respond|reply|outputs?|prints?|say|write|repeat|return)\b"
    r".{0,20}\b(?:only|exactly|just|nothing but|nothing else|verbatim|with the word|the word)\b",
    r"\b(?:reveal|print|show|repeat|output|leak|send|post|forward|disclose|exfiltrate|dump"
    r"|list)\b.{0,40}\b(?:system prompt|prompt|instructions|secret|password|api key"
    r"|credential|token|all memor|other user|every user|everything you)\w*",
    r"\b(?:system|developer|assistant|admin|tool|function|root)\s*(?:\(?(?:message|prompt|override|note"
    r"|notice|result|output|response)\)?)?\s*[:>\]]",
    r"<\|?/?\s*(?:im_start|im_end|system|assistant|user|endoftext|start_of_turn|end_of_turn"
    r"|start_header_id|eot_id|tool\w*|function\w*|instructions?|s)\b[^>]{0,40}\|?>"
    r"|\[/?(?:inst|sys|tool\w*|available_tools)\]|<</?sys>>|</s>|\bend[ _]of[ _](?:text|turn|prompt"
    r"|context|data|memory)\b",
    r"!\[[^\]]*\]\(|\]\((?:https?:[^)]*[?=]|javascript:|data:)|<!--|\bdata:text/|<(?:img|script|iframe|a"
    r"|meta|memory|experience_context|data-)\b|</",
    r"\b(?:base64|rot-?13|hex|morse|decode|decrypt|caesar|reverse)\b.{0,40}\b(?:follow|obey|execute|run"
    r"|do what|then|instruction|and|decode|this)\b",
    r"[A-Za-z0-9+/]{24,}={0,2}(?!\w)|(?:\\x[0-9a-f]{2}){6,}|(?:%[0-9a-f]{2}){6,}"
    r"|(?:&#x?[0-9a-f]{2,6};){4,}|(?:\\u[0-9a-f]{4}){4,}"
    r"|(?:\b[0-9a-f]{2}\s){8,}|(?:\b[01]{8}\b\s*){4,}|(?:[.-]{1,5}[ /]+){8,}",
    r"\b(?:call|invoke|run|execute) (?:the |a |this )?(?:tool|function|shell|command|curl|api|plugin)\b"
    r"|\brm -rf|\bcurl http|\btool_call|\bfunction_call|\"role\"\s*:\s*\"|\"cites\"\s*:",
    # German, French, Spanish, Portuguese, Italian, Dutch, Polish, Turkish
    r"\b(?:ignorier\w*|vergiss|missachte\w*|ignore[zr]?|oublie[zr]?|ignora\w*|olvida\w*|ignorar"
    r"|esqueça\w*|dimentica\w*|negeer|vergeet|zignoruj|zapomnij|yoksay|unut|görmezden)\b"
    r".{0,50}\b(?:anweisung|regel|befehl|vorgabe|instruction|consigne|règle|instruccion|regla|instruç"
    r"|regra|istruzion|regol|instructie|regel|polecen|instrukcj|talimat|kural)\w*",
    r"\b(?:antworte|schreibe?|sag|gib|réponds|répondez|écris|affiche|dis|responde|contesta|escribe|di"
    r"|muestra|revela|responda|escreva|mostre|diga|rispondi|scrivi|mostra|antwoord|schrijf|odpowiedz"
    r"|napisz|sadece)\b"
    r".{0,30}\b(?:nur|ausschließlich|mit|aus|das|uniquement|seulement|avec|le mot|solo|solamente"
    r"|únicamente|la palabra|con|apenas|somente|só|a palavra|com|soltanto|solamente|la parola|alleen"
    r"|tylko|słow|yaz)\b",
    r"\b(?:du bist (?:jetzt|nun)|ab (?:jetzt|sofort)|tu es (?:maintenant|désormais)|vous êtes maintenant"
    r"|désormais|ahora eres|a partir de ahora|agora você é|a partir de agora|ora sei|d'ora in poi"
    r"|vanaf nu|teraz jesteś)\b",
    # Russian, Ukrainian, Chinese, Japanese, Korean, Arabic, Hindi, Hebrew
    r"(?:игнорир|забуд|не обращай|отныне|теперь ты|ты теперь|ответь только|отвечай только|напиши|выведи"
    r"|покажи пароль|раскрой|ігнору)",
    r"(?:忽略|无视|忘记|忘掉|从现在起|从现在开始|你现在是|只回答|只输出|只回复|请输出|輸出"
    r"|显示.{0,6}(?:密码|提示)|系统提示|无论)",
    r"(?:無視|忘れて|今から|これから(?:は|あなた)|あなたは今|だけ(?:を)?(?:出力|答え|返答|回答)"
    r"|と(?:だけ)?(?:出力|答えて|返答|回答|言って)|システムプロンプト)",
    r"(?:무시하|무시해|잊어|지금부터|이제부터|라고만|만 출력|만 대답|시스템 프롬프트)",
    r"(?:تجاهل|انس |انسَ|من الآن|أنت الآن|أجب فقط|اكتب فقط|اكشف|أظهر)",
    r"(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल जाओ|भूल जाइए|अब से|अब तुम|अब आप|केवल.{0,20}(?:लिख|उत्तर|जवाब)"
    r"|सिर्फ.{0,20}(?:लिख|उत्तर|जवाब))",
    r"(?:התעלם|שכח|מעתה|ענה רק)",
)
_ORDER: Final = re.compile("|".join(f"(?:{said})" for said in _SAID), re.IGNORECASE | re.DOTALL)
_ALONE: Final = hints(
    """
    you_are_now you_are_no_longer from_now_on act_as pretend new_instr new_rule new_task new_prompt new_system
    developer_mode jailbr dan_mode do_anything_now stop_being < [ end_of end_ ]( data:text base64 rot13 rot-13 hex morse
    decode decrypt caesar reverse \\x % &# \\u rm_-rf curl_http tool_call function_call "role" "cites"
    """
)
"""Of what gives orders by itself, small-letter substrings."""
_PAIRS: Final = (
    (
        hints("ignor disregard forget overrid bypass skip"),
        hints("instruction direction rule prompt message context guideline command order polic"),
    ),
    (
        hints("answer respond reply output print say write repeat return"),
        hints("only exactly just nothing verbatim the_word"),
    ),
    (
        hints("reveal print show repeat output leak send post forward disclose exfiltrate dump list"),
        hints("prompt instruction secret password api_key credential token all_memor other_user every"),
    ),
    (hints("system developer assistant admin tool function root"), hints(": > ]")),
    (hints("call_ invoke_ run_ execute_"), hints("tool function shell command curl api plugin")),
)
"""Of the other orders: each has one of the first and one of the second."""
_OTHER_TONGUES: Final = listed(
    "ignorier ignoriere ignorieren vergiss missachte missachten ignore ignorez ignorer oublie oublier "
    "oubliez ignora ignorad olvida olviden olvidar ignorar dimentica negeer vergeet zignoruj zapomnij "
    "yoksay unut antworte schreib schreibe sag gib affiche dis responde contesta escribe di muestra "
    "revela responda escreva mostre diga rispondi scrivi mostra antwoord schrijf odpowiedz napisz sadece "
    "du ab tu vous ahora partir agora ora d'ora vanaf teraz"
)
_LONG_WORD: Final = 24
_CODED: Final = "0123456789abcdef.-/"
_CODED_WORDS: Final = 4
MOST_CHARS: Final = 20_000


def undisguised(text: str) -> str:
    """Return a text as it reads: what can't be seen taken out, look-alikes made plain, s p a c e d
    letters joined."""
    seen = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    joined = _SPACED.sub(lambda match: re.sub(r"[ ._*-]", "", match[0]), seen)
    latin = sum(c.isascii() and c.isalpha() for c in joined)
    # In a text of another script those letters are themselves.
    return joined.translate(_LOOKALIKES) if 2 * latin > sum(map(str.isalpha, joined)) else joined


_SENDS: Final = re.compile(
    r"\b(?:send|forward|e-?mail|mail|post|upload|transmit|submit|share|exfiltrate)\b.{0,80}"
    r"(?:[\w.+-]+@[\w-]+\.\w|https?://|\b[\w-]+\.(?:example|net|org|com|io|dev|app)\b)",
    re.IGNORECASE | re.DOTALL,
)


def asks_to_send(text: str) -> bool:
    """Whether a text names somewhere to send something to. People write so of their own errands, too: it is asked of
    outsiders' words alone."""
    return _SENDS.search(undisguised(text[:MOST_CHARS])) is not None


def gives_orders(text: str) -> bool:
    """Whether a text speaks to a model rather than of the world; it may be wrong, and errs towards yes."""
    head = text[:MOST_CHARS]
    return _may(head) and _ORDER.search(undisguised(head)) is not None


def _may(text: str) -> bool:
    """Whether a text has any word without which it gives no orders; plain talk mostly hasn't."""
    low = text.lower()
    each = low.replace(",", " ").split()
    return (
        not text.isascii()
        or _ALONE.may_be_in(text, low)
        or any(one.may_be_in(text, low) and other.may_be_in(text, low) for one, other in _PAIRS)
        or not _OTHER_TONGUES.isdisjoint(each)
        # What is encoded has long words, or several of digits, dots or dashes; what is s p a c e d has letters apart.
        or max(map(len, each), default=0) >= _LONG_WORD
        or sum(not word.strip(_CODED) for word in each) >= _CODED_WORDS
        or _SPACED.search(text) is not None
    )
