"""Zips: what is refused before anything of it is read, and what shows itself only while it is."""

import io
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from braid.tools.importers import archive, source
from braid.tools.importers.archive import of_archive
from braid.tools.importers.detect import by_name, detect, open_path, open_stream
from braid.tools.importers.errors import ArchiveError, SourceError, UnknownFormatError
from braid.tools.importers.message import Message
from tests.unit.tools.samples import EXPORTS, zip_of

CONVERSATIONS = (EXPORTS / "chatgpt.json").read_bytes()


@pytest.mark.parametrize(
    "name",
    ["../conversations.json", "a/../../b.md", "/etc/passwd", "..\\x.md", "C:/x.md", "\\\\host\\x.md", "a/.."],
)
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    path = zip_of(tmp_path / "x.zip", {"conversations.json": CONVERSATIONS, name: b"# x"})
    with pytest.raises(ArchiveError, match="leads out of it"):
        open_path(path)


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("notes.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    with pytest.raises(ArchiveError, match="a link in it"):
        open_path(path)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "x.zip", {"conversations.json": b"[" + b" " * (20 * 2**20) + b"]"})
    assert path.stat().st_size < 2**16
    with pytest.raises(ArchiveError, match="refused as a zip bomb"):
        open_path(path)


def test_a_bomb_of_many_small_members_is_refused(tmp_path: Path) -> None:
    note = b"# x\n" + b"a" * (2**20 - 4)
    path = zip_of(tmp_path / "x.zip", {f"{n}.md": note for n in range(65)})
    assert path.stat().st_size < 2**17
    with pytest.raises(ArchiveError, match=r"its members together .* refused as a zip bomb"):
        open_path(path)
    zip_of(path, {f"{n}.md": note for n in range(64)})
    with open_path(path) as opened:
        assert len(opened.names()) == 64


def test_members_that_lie_over_each_other_are_refused(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "x.zip", {"a.md": b"# a" * 40, "b.md": b"# a" * 40}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    second = data.rfind(b"PK\x01\x02")
    data[second + 42 : second + 46] = bytes(4)  # the second member's bytes are the first one's
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"'b\.md' lies over another member"):
        open_path(path)
    data[second + 42 : second + 46] = (60).to_bytes(4, "little")  # within the first one's data
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"'b\.md' lies over another member"):
        open_path(path)


def test_a_member_that_is_longer_than_it_says_ends_where_it_says(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "x.zip", {"conversations.json": CONVERSATIONS}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match="damaged member"), open_path(path) as opened:
        list(by_name("chatgpt").read(opened))


def test_too_many_members_and_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zip_of(tmp_path / "x.zip", {f"{n}.md": b"# x" for n in range(20)})
    monkeypatch.setattr(archive, "MAX_PARTS", 10)
    with pytest.raises(ArchiveError, match="20 members: 10 are the limit"):
        of_archive(path)
    monkeypatch.setattr(archive, "MAX_PARTS", 20)
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 50)
    with pytest.raises(ArchiveError, match="more than 50 bytes unpacked"):
        of_archive(path)
    monkeypatch.setattr(archive, "MAX_DIRECTORY_BYTES", 100)
    with pytest.raises(ArchiveError, match="list of members is longer"):
        of_archive(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.md", "# a")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.md", "# b")
    with pytest.raises(ArchiveError, match="two members of the same name"):
        of_archive(path)


def test_a_member_in_cipher_is_refused(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "x.zip", {"a.md": b"# x"})
    data = bytearray(path.read_bytes())
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(magic) + place] |= 1
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match="encrypted"), open_path(path) as opened:
        list(by_name("markdown").read(opened))


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9, 0.999])
def test_a_cut_zip_is_refused(tmp_path: Path, cut: float) -> None:
    path = zip_of(tmp_path / "x.zip", {"conversations.json": CONVERSATIONS})
    os.truncate(path, int(path.stat().st_size * cut))
    with pytest.raises(ArchiveError, match="damaged zip"):
        open_path(path)


def test_every_flipped_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "x.zip", {"conversations.json": CONVERSATIONS, "user.json": b"{}"})
    data = path.read_bytes()
    refused = 0
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            with open_path(path) as opened:
                list(detect(opened).read(opened))
        except SourceError:
            refused += 1
    assert refused > len(data) // 6


def test_what_it_is_stands_in_the_members_not_in_the_name(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "slack.txt", {"deep/conversations.json": CONVERSATIONS, "x.png": b"\x89PNG"})
    with open_path(path) as opened:
        importer = detect(opened)
        found = [each for each in importer.read(opened) if isinstance(each, Message)]
    assert importer.name == "chatgpt"
    assert found[0].source_uri.startswith(f"{path.as_uri()}!/deep/conversations.json#")


def test_conversations_in_several_files_are_read_in_order(tmp_path: Path) -> None:
    both = json.loads(CONVERSATIONS)
    members = {f"conversations-{n:03}.json": json.dumps([one]).encode() for n, one in enumerate(both)}
    with open_path(zip_of(tmp_path / "x.zip", members)) as opened:
        found = [each for each in detect(opened).read(opened) if isinstance(each, Message)]
    assert len({each.conversation for each in found}) == 2


def test_a_zip_of_nothing_known_is_unknown(tmp_path: Path) -> None:
    for members in ({}, {"x.png": b"\x89PNG"}, {"__MACOSX/a.md": b"# x", ".hidden/a.md": b"# x"}):
        with (
            open_path(zip_of(tmp_path / "x.zip", {"a.bin": b"\x00"} | members)) as opened,
            pytest.raises(UnknownFormatError),
        ):
            detect(opened)


def test_a_zip_through_a_pipe_is_refused_with_what_to_do(tmp_path: Path) -> None:
    data = zip_of(tmp_path / "x.zip", {"a.md": b"# x"}).read_bytes()
    with pytest.raises(SourceError, match="save it to a file"):
        open_stream(io.BytesIO(data))


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        (tmp_path / f"{n}.md").write_text("# x")
    monkeypatch.setattr(source, "MAX_PARTS", 4)
    with pytest.raises(SourceError, match="more than 4 files"):
        open_path(tmp_path)
