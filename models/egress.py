"""How far a model may be: on this machine, or at a private address that is written out, unless more is allowed."""

from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

_PRIVATE: Final = tuple(
    ip_network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
"""Not link-local addresses: 169.254.169.254 answers for the whole cloud."""


def is_near(url: str) -> bool:
    """Whether an address is this machine, or a private one written in numbers: a name may lead anywhere tomorrow."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        found = ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or any(found in block for block in _PRIVATE)


def is_reached_near(host: str, peer: str) -> bool:
    """Whether a connection made to `host` ended where `is_near` said it would: `localhost` is what a resolver says."""
    found = ip_address(peer.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    if (mapped or found).is_loopback:
        return True
    try:
        return found == ip_address(host)
    except ValueError:
        return False


def check(url: str, *, allow_remote: bool) -> None:
    """Raise ValueError for an address that memory may not be sent to."""
    parts = urlsplit(url)
    _ = parts.port  # ValueError for one that is none
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{shown(url)!r} is no http or https address")
    if parts.username or parts.password:
        raise ValueError(
            "an address holds no name or password; keys come from the environment or a file of yours"
        )
    if parts.query or parts.fragment:
        raise ValueError(f"{shown(url)!r}: the address of a model ends with its path: no ? and no #")
    if is_near(url):
        return
    if not allow_remote:
        raise ValueError(
            f"{parts.hostname} is not on this machine: what is remembered would leave it; allow that with"
            " --allow-remote (allow_remote=True), or name a model that runs here"
        )
    if parts.scheme != "https":
        raise ValueError(
            f"{parts.hostname} is not on this machine, and http can be read on the way: use https"
        )


def shown(url: str) -> str:
    """Return an address without what may be a secret in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
