"""Files in and out: what is read, what is written, and that hostile files are refused with a clear word."""

import errno
import gzip
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import assert_places, refused
from helpers.reference import PROJECT
from helpers.scenes import objects
from spotgeo_frames.formats.any_file import read_annotations, sequence_layout
from spotgeo_frames.support import reading


def entry(sequence=1, frame=1, coordinates=((1.5, 2.5),), **changes) -> dict:
    coordinates = [list(point) for point in coordinates]
    whole = {"sequence_id": sequence, "frame": frame, "num_objects": len(coordinates), "object_coords": coordinates}
    return whole | changes


def save(folder: Path, document, name: str = "some.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


GOOD = [entry(2, 1, [(1, 2), (3.5, 4.5)]), entry(2, 2, []), entry(1, 1, [(5, 6)])]


def check_good(annotations: sf.Annotations) -> None:
    assert annotations.frames.to_numpy().tolist() == [[2, 1], [2, 2], [1, 1]]
    expected = [[2, 1, 0, 1, 2], [2, 1, 1, 3.5, 4.5], [1, 1, 0, 5, 6]]
    assert annotations.objects.to_numpy().tolist() == expected
    assert annotations.objects.dtypes.astype(str).tolist() == ["int64", "int64", "int64", "float64", "float64"]


@pytest.mark.parametrize("options", [{}, {"separators": (",", ":")}, {"indent": 2}])
def test_competition_json_in_any_layout(tmp_path: Path, options: dict) -> None:
    check_good(sf.read_spotgeo(save(tmp_path, json.dumps(GOOD, **options))))


def test_fast_and_slow_roads_read_the_same(tmp_path: Path) -> None:
    # 1.0 is the same number as 1 in JSON, which sends this file down the slow road.
    check_good(sf.read_spotgeo(save(tmp_path, [GOOD[0] | {"frame": 1.0}, *GOOD[1:]])))


def test_other_keys_and_their_order_do_not_matter(tmp_path: Path) -> None:
    turned = [dict(reversed(list(some.items()))) | {"note": "}, {", "more": [[[1]]]} for some in GOOD]
    check_good(sf.read_spotgeo(save(tmp_path, turned)))


def test_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    check_good(sf.read_spotgeo(path))


def test_an_empty_list_is_a_file_without_frames(tmp_path: Path) -> None:
    annotations = sf.read_spotgeo(save(tmp_path, []))
    assert (len(annotations.objects), len(annotations.frames)) == (0, 0)


@pytest.mark.parametrize("name", ["some.json", "some.json.gz", "some.zip", "some.JSON", "some.gz"])
def test_written_files_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    annotations = sf.read_spotgeo(save(tmp_path, GOOD))
    sf.write_spotgeo(annotations, path)
    order = ["sequence", "frame"]
    back = sf.read_spotgeo(path)
    pd.testing.assert_frame_equal(back.frames, annotations.frames.sort_values(order, ignore_index=True))
    pd.testing.assert_frame_equal(
        back.objects, annotations.objects.sort_values(order, kind="stable", ignore_index=True)
    )
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    first = path.read_bytes()
    sf.write_spotgeo(annotations, path)
    assert path.read_bytes() == first


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(allow_nan=False, allow_infinity=False)), max_size=5))
def test_numbers_survive_to_the_last_bit(tmp_path_factory, points) -> None:
    path = tmp_path_factory.mktemp("bits") / "some.json"
    table = objects([(1, 1, x, y) for x, y in points if abs(y) < 2**63])
    sf.write_spotgeo(table, path)
    assert sf.read_spotgeo(path).objects.equals(table)
    assert [[x, y] for some in json.loads(path.read_text()) for x, y in some["object_coords"]] == (
        table[["x", "y"]].to_numpy().tolist()
    )


def test_what_the_competition_format_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    strings = objects([("a", 1, 0, 0)])
    elsewhere = sf.Annotations(objects([(1, 1, 0, 0)]), pd.DataFrame({"sequence": [1], "frame": [2]}))
    for annotations, place in (
        (strings, "annotations: column sequence"),
        (objects([(1, 1, 0, 0)]).assign(joint="nose"), ("annotations", "column joint")),
        (objects([(1, 1, np.nan, 0)]), ("annotations: column x", "1 row", "sequence 1, frame 1, object 0")),
        (elsewhere, ("annotations", "frames table", "sequence 1, frame 1")),
    ):
        with refused(place):
            sf.write_spotgeo(annotations, path)
    assert not path.exists()


def test_columns_that_are_not_written_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    sf.write_spotgeo(objects([(2, 1, 0, 0), (1, 1, 5, 5)], category=["a", None]), path)
    assert sf.read_spotgeo(path).objects["sequence"].tolist() == [1, 2]
    sf.write_spotgeo(objects([]), path)
    assert json.loads(path.read_text()) == []


def test_writing_where_nothing_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "no" / "some.json"
    with refused(f"{path}: cannot be written"):
        sf.write_spotgeo(objects([(1, 1, 0, 0)]), path)


BAD: dict[str, tuple[object, str, tuple[str, ...]]] = {
    "an empty file": ("", "line 1, column 1", ()),
    "truncated": ('[{"sequence_id": 1, "fra', "line 1, column 21", ()),
    # From Python 3.13 on the comma is the place, and before that what follows it.
    "a trailing comma": ("[1, 2,]", f"line 1, column {6 if sys.version_info >= (3, 13) else 7}", ()),
    "text after the end": ("[] []", "line 1, column 4", ()),
    "another shape": ({"frames": []}, "", ("object", "list of frames")),
    "a list of numbers": ([1], "[0]", ("1", "object")),
    "a missing key": ([{"sequence_id": 1, "frame": 1, "num_objects": 0}], "[0]", ("object_coords",)),
    "NaN": (
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":[[NaN,2]]}]',
        "[0].object_coords[0][0]",
        ("NaN",),
    ),
    "Infinity": (
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":[[1,-Infinity]]}]',
        "[0].object_coords[0][1]",
        ("-Infinity",),
    ),
    "1e999": (
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":[[1e999,2]]}]',
        "[0].object_coords[0][0]",
        ("1e999",),
    ),
    "a string": ([entry(coordinates=[("1", 2)])], "[0].object_coords[0][0]", ("'1'",)),
    "true": ([entry(coordinates=[(True, 2)])], "[0].object_coords[0][0]", ("true",)),
    "null": ([entry(coordinates=[(1, None)])], "[0].object_coords[0][1]", ("null",)),
    "a triple": ([entry(coordinates=[(1, 2, 3)])], "[0].object_coords[0]", ("3", "[x, y]")),
    "one number": ([entry(coordinates=[(1,)])], "[0].object_coords[0]", ("1", "[x, y]")),
    "no pairs": ([entry(object_coords=[1])], "[0].object_coords[0]", ("1", "[x, y]")),
    "nested pairs": ([entry(coordinates=[([1, 2], 3)])], "[0].object_coords[0][0]", ("list",)),
    "no list": ([entry(object_coords=None)], "[0].object_coords", ("null", "[x, y]")),
    "deep nesting": ("[" * 10_000 + "]" * 10_000, "", ("nested",)),
    "deep nesting inside": (
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":' + "[" * 100_000 + "]" * 100_000 + "}]",
        "",
        ("nested",),
    ),
    "a long integer": ([entry(10**29)], "[0].sequence_id", (str(10**29), "64 bits")),
    "a very long integer": ([entry(10**3000)], "[0].sequence_id", ("3001 characters", "64 bits")),
    "an enormous integer": (
        json.dumps([entry()]).replace("1.5", "9" * 9000),
        "[0].object_coords[0][0]",
        ("9000 characters", "64 bits"),
    ),
    "a long coordinate": ([entry(coordinates=[(10**29, 2)])], "[0].object_coords[0][0]", (str(10**29), "64 bits")),
    "true as a sequence": ([entry(True)], "[0].sequence_id", ("true",)),
    "a string as a frame": ([entry(frame="1")], "[0].frame", ("'1'",)),
    "a frame beyond 64 bits": ([entry(frame=1e30)], "[0].frame", ("1e+30",)),
    "half a frame": ([entry(frame=1.5)], "[0].frame", ("1.5",)),
    "a count too high": ([entry(num_objects=2)], "[0].num_objects", ("2", "1")),
    "a count below nothing": ([entry(num_objects=-1)], "[0].num_objects", ("-1", "1")),
    "a huge count": ([entry(num_objects=10**12)], "[0].num_objects", (str(10**12), "1")),
    "a frame twice": ([entry(), entry(2), entry()], "[2]", ("sequence 1, frame 1", "[0]")),
}


@pytest.mark.parametrize(("document", "place", "named"), BAD.values(), ids=BAD)
def test_bad_json_is_refused_with_its_place(
    tmp_path: Path, document: object, place: str, named: tuple[str, ...]
) -> None:
    path = save(tmp_path, document)
    with pytest.raises(sf.InputError) as caught:
        sf.read_spotgeo(path)
    assert_places(caught.value.problems, (f"{path}: {place}".removesuffix(": "), *named))
    assert len(str(caught.value)) < 400 + len(str(path))


@pytest.mark.parametrize("key", ["sequence_id", "frame", "num_objects"])
@pytest.mark.parametrize(
    "text",
    ["1e-400", "-1e-999999999999999999999", "1.00000000000000000001", "0.99999999999999999999", "9007199254740993.0"],
)
def test_numbers_that_only_rounding_makes_whole_are_no_integers(tmp_path: Path, key: str, text: str) -> None:
    path = save(tmp_path, json.dumps([entry() | {key: "?"}]).replace('"?"', text))
    with refused((f"{path}: [0].{key}", text)):
        sf.read_spotgeo(path)
    assert sf.validate_spotgeo(path)["place"].tolist()[0] == f"[0].{key}"


@pytest.mark.parametrize("text", ["1.0", "1.000000000000000000000", "0.1e1", "10E-1"])
def test_whole_numbers_in_other_words_are_integers(tmp_path: Path, text: str) -> None:
    path = save(tmp_path, json.dumps([entry("?")]).replace('"?"', text))
    assert sf.read_spotgeo(path).objects["sequence"].tolist() == [1]


def test_coordinates_may_be_rounded(tmp_path: Path) -> None:
    for frame in ("1", "1.0"):  # the fast road and the slow one
        text = json.dumps([entry(frame="?", coordinates=[(0.5, 0.25)])])
        path = save(
            tmp_path, text.replace('"?"', frame).replace("0.5", "1e-400").replace("0.25", "2.00000000000000000001")
        )
        assert sf.read_spotgeo(path).objects[["x", "y"]].to_numpy().tolist() == [[0.0, 2.0]]


def test_every_problem_is_listed(tmp_path: Path) -> None:
    path = save(tmp_path, [entry(frame=None), 5, entry(coordinates=[("a", "b")], num_objects=7)])
    with refused(
        (f"{path}: [0].frame", "null"),
        (f"{path}: [1]", "5"),
        (f"{path}: [2].object_coords[0][0]", "'a'"),
        (f"{path}: [2].object_coords[0][1]", "'b'"),
        (f"{path}: [2].num_objects", "7", "1"),
    ):
        sf.read_spotgeo(path)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(b'["\xff"]')
    with refused(f"{path}: byte 2"):
        sf.read_spotgeo(path)
    # Also where nobody would look: in a key that is passed over.
    content = json.dumps([entry() | {"note": "?"}]).encode().replace(b"?", b"\xff")
    path.write_bytes(content)
    with refused(f"{path}: byte {content.index(0xFF)}"):
        sf.read_spotgeo(path)
    path.write_text(json.dumps([entry() | {"note": "é"}], ensure_ascii=False), encoding="utf-8")
    assert len(sf.read_spotgeo(path).objects) == 1


def zipped(path: Path, *members: tuple[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members:
            archive.writestr(name, text)
    return path


def test_zip_files(tmp_path: Path) -> None:
    text = json.dumps(GOOD)
    path = tmp_path / "some.zip"
    check_good(sf.read_spotgeo(zipped(path, ("a.json", text))))
    check_good(
        sf.read_spotgeo(zipped(path, ("folder/", ""), ("folder/a.json", text), ("__MACOSX/folder/._a.json", "x")))
    )
    of_macos = [("__MACOSX/._a.json", "x"), ("folder/.DS_Store", "x"), (".DS_Store", "x"), ("folder/._a.json", "x")]
    check_good(sf.read_spotgeo(zipped(path, ("folder/", ""), *of_macos, ("folder/a.json", text))))
    for names in (["folder/a.json", "b.json"], ["a.json", "README.txt", "c.json"], []):
        zipped(path, *((name, text) for name in names), *of_macos)
        with refused((f"{path}", f"{len(names)} files", *map(repr, names[:2]))):
            sf.read_spotgeo(path)
    for name in ("../a.json", "/etc/a.json", "a/../../b.json", "C:\\a.json", "..\\a.json"):
        zipped(path, (name, text))
        with refused((f"{path}", "outside the archive", repr(name))):
            sf.read_spotgeo(path)
    path.write_bytes(b"PK\x03\x04 and no more")
    with refused((f"{path}: cannot be read", "zip")):
        sf.read_spotgeo(path)


def test_a_member_without_a_name(tmp_path: Path) -> None:
    path = zipped(tmp_path / "some.zip", ("a", json.dumps(GOOD)))
    for content in (path.read_bytes().replace(b"a[", b"\0["), nameless(path)):
        path.write_bytes(content)
        with refused((f"{path}", "name")):
            sf.read_spotgeo(path)


def nameless(path: Path) -> bytes:
    """An archive whose only member has the empty name."""
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo("a")
        member.filename = ""
        archive.writestr(member, json.dumps(GOOD))
    return path.read_bytes()


def test_nul_bytes_in_text(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(b"sequence,frame,object,x,y,note\n1,1,1,0,0,a\n1,1,2,0,0,b\0\n")
    with refused(f"{path}, line 3"):
        sf.read_objects(path)
    path = tmp_path / "some.json"
    content = json.dumps([entry() | {"note": "?"}]).encode().replace(b"?", b"\0")
    path.write_bytes(content)
    with refused(f"{path}: line 1, column {content.index(0) + 1}"):
        sf.read_spotgeo(path)


def test_damaged_members(tmp_path: Path) -> None:
    path = zipped(tmp_path / "some.zip", ("a.json", json.dumps(GOOD)))
    content = bytearray(path.read_bytes())
    content[45] ^= 0xFF
    path.write_bytes(content)
    with refused((f"{path}: cannot be read", "CRC-32")):
        sf.read_spotgeo(path)
    packed = tmp_path / "some.json.gz"
    for damaged in (gzip.compress(json.dumps(GOOD).encode())[:-9], b"no gzip at all"):
        packed.write_bytes(damaged)
        with refused(f"{packed}: cannot be read"):
            sf.read_spotgeo(packed)


def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_UNPACKED", 1 << 20)
    content = b" " * (1 << 20) + b"[]"
    packed = tmp_path / "some.json.gz"
    packed.write_bytes(gzip.compress(content))
    with refused((f"{packed}", "unpacks", "1 MiB")):
        sf.read_spotgeo(packed)
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", content)
    with refused((f"{path}", "unpacks", "1 MiB")):
        sf.read_spotgeo(path)
    # A header that lies about the size changes nothing.
    lying = path.read_bytes().replace(len(content).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(lying)
    with refused(f"{path}"):
        sf.read_spotgeo(path)


@pytest.mark.parametrize("name", ["no.json", "no.zip", "no.json.gz", "no.parquet", "no.csv", "no.arrow", "no"])
def test_missing_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with refused((f"{path}", "no such file")):
        read_annotations(path)


def test_files_of_no_known_kind(tmp_path: Path) -> None:
    path = save(tmp_path, "x", "some.txt")
    with refused((f"{path}", ".json, .json.gz, .zip, .parquet, .csv, .csv.gz, .arrow", "folder of .parquet")):
        read_annotations(path)


@pytest.mark.parametrize("name", ["truth.json", "truth.zip", "truth.json.gz"])
def test_competition_files_given_as_tables(tmp_path: Path, name: str) -> None:
    path = save(tmp_path, GOOD, name)
    with refused((f"{path}", "read_spotgeo")):
        sf.read_objects(path)


def test_an_address_is_named_as_it_was_given() -> None:
    with refused("nowhere://bucket/truth.parquet: cannot be reached"):
        sf.read_objects("nowhere://bucket/truth.parquet")


def test_a_posetrack_file_is_recognised(tmp_path: Path) -> None:
    document = {"images": [{"id": 1, "is_labeled": True}], "annotations": [], "categories": []}
    path = save(tmp_path, document)
    with refused((f"{path}", "read_posetrack")):
        sf.read_spotgeo(path)


TABLE = objects([(1, 1, 0, 0), (1, 2, 5, 5), (2, 1, 1, 1)], brightness=[5, 6, 7])


@pytest.mark.parametrize("name", ["some.csv", "some.csv.gz"])
def test_no_thread_of_pyarrow_has_memory_of_python(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A thread that frees such memory after the interpreter has ended aborts: 1 of 70 commands did on a busy machine.
    content = b"sequence,frame,object,x,y\n1,1,0,1.5,2.5\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    addresses, read_csv = [], pyarrow.csv.read_csv

    def noted(source: pa.BufferReader, **options: Any) -> pa.Table:
        addresses.append(source.read_buffer().address)
        source.seek(0)
        return read_csv(source, **options)

    monkeypatch.setattr(reading, "read_bytes", lambda path: content)
    monkeypatch.setattr(pyarrow.csv, "read_csv", noted)
    assert sf.read_objects(path).objects["x"].tolist() == [1.5]
    assert addresses
    assert pa.py_buffer(content).address not in addresses


@pytest.mark.parametrize("name", ["some.parquet", "some.csv", "some.csv.gz", "some.arrow", "some.feather"])
def test_tables_of_objects(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(("arrow", "feather")):
        table = pa.Table.from_pandas(TABLE)
        with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
    elif "csv" in name:
        TABLE.to_csv(path, index=False)
    else:
        TABLE.to_parquet(path)
    pd.testing.assert_frame_equal(sf.read_objects(path).objects, TABLE)
    assert sf.read_objects(path).frames is None
    assert sf.read_objects(str(path), frames=TABLE[["sequence", "frame"]]).frames is not None
    pd.testing.assert_frame_equal(sf.read_objects(TABLE).objects, TABLE)
    pd.testing.assert_frame_equal(read_annotations(path).objects, TABLE)


def test_a_folder_of_parquet(tmp_path: Path) -> None:
    for sequence, part in TABLE.groupby("sequence"):
        folder = tmp_path / "hive" / f"sequence={sequence}"
        folder.mkdir(parents=True)
        part.drop(columns="sequence").to_parquet(folder / "part.parquet")
    (tmp_path / "hive" / "README").write_text("not Parquet")
    hive = sf.read_objects(tmp_path / "hive").objects
    pd.testing.assert_frame_equal(hive[TABLE.columns].sort_values("sequence"), TABLE)
    plain = tmp_path / "plain"
    plain.mkdir()
    TABLE.iloc[:2].to_parquet(plain / "1.parquet")
    TABLE.iloc[2:].to_parquet(plain / "2.parquet")
    pd.testing.assert_frame_equal(sf.read_objects(plain).objects, TABLE)
    narrow = TABLE.iloc[:2].drop(columns="brightness").astype({"sequence": "int32", "x": "float32"})
    narrow.to_parquet(plain / "1.parquet")
    mixed = sf.read_objects(plain).objects
    assert mixed["brightness"].isna().tolist() == [True, True, False]
    pd.testing.assert_frame_equal(mixed.drop(columns="brightness"), TABLE.drop(columns="brightness"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with refused((f"{empty}", "folder", "Parquet")):
        sf.read_objects(empty)


def test_pandas_index_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    TABLE.set_index(["sequence", "frame"]).to_parquet(path)
    assert sf.match(sf.read_objects(path), TABLE)["outcome"].tolist() == ["TP"] * 3
    TABLE.iloc[[2, 0, 1]].to_parquet(path)
    assert sf.read_objects(path).objects.columns.tolist() == TABLE.columns.tolist()


def test_damaged_tables(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    TABLE.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    csv = save(tmp_path, "sequence,frame,object,x,y\n1,1,0,1\n", "some.csv")
    arrow = save(tmp_path, "nothing of the kind", "some.arrow")
    for damaged in (path, csv, arrow):
        with refused(f"{damaged}: cannot be read"):
            sf.read_objects(damaged)
    wrong = save(tmp_path, "sequence,frame,object,x,y\n1,1,0,left,2\n", "wrong.csv")
    with refused((f"{wrong}: column x", "str")):
        sf.read_objects(wrong)


def test_text_in_another_encoding(tmp_path: Path) -> None:
    """The first byte that is no UTF-8 is named, and what makes it UTF-8; where it is, is no matter."""
    for line, text in (
        (1, "sequence,frame,object,x,y,caf\u00e9\n1,1,0,1,2,a\n"),
        (3, "sequence,frame,object,x,y,name\n1,1,0,1,2,a\n1,1,1,1,2,caf\u00e9\n"),
    ):
        path = tmp_path / "latin.csv"
        path.write_bytes(text.encode("latin-1"))
        place = text.encode("latin-1").index(b"\xe9")
        with refused(
            (f"{path}, line {line}", f"byte {place}", "0xe9", "UTF-8", "iconv -f LATIN1", "encoding='latin-1'")
        ):
            sf.read_objects(path)
        path.write_bytes(text.encode())
        assert "caf\u00e9" in sf.read_objects(path).objects.astype(str).to_csv()
    path.write_bytes(text.encode("utf-16"))
    with refused((f"{path}, line 1", "UTF-8")):
        sf.read_objects(path)


def test_blanks_around_the_names_of_columns(tmp_path: Path) -> None:
    """Text after a comma and a blank loses the blank as the names do; two columns of one name stay as they are."""
    path = tmp_path / "some.csv"
    path.write_text("sequence, frame, object, x ,\ty, category\nd, 1, 1, 2.0, 3.0, car\n")
    expected = {"sequence": "d", "frame": 1, "object": 1, "x": 2.0, "y": 3.0, "category": "car"}
    assert sf.read_objects(path).objects.to_dict("records") == [expected]
    path.write_text("sequence,frame,object,x,y,z , z\nd,1,1,2.0,3.0, a,b\n")
    assert sf.read_objects(path).objects[["z ", " z"]].to_numpy().tolist() == [[" a", "b"]]
    path.write_text("sequence, frame\n1, 2\n")
    assert sf.read_objects(objects([("1", 2, 0, 0)]), frames=path).frames.to_dict("records") == [
        {"sequence": 1, "frame": 2}
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_keys_written_as_floats_or_dates(tmp_path: Path, ending: str) -> None:
    table = pd.DataFrame(
        {
            "sequence": pd.to_datetime(["2024-01-01", "2024-01-01 12:30"], format="ISO8601"),
            "frame": [1.0, 2.0],
            "object": [3.0, 4.0],
            "x": 1.0,
            "y": 2.0,
        }
    )
    path = tmp_path / f"some.{ending}"
    write = {"csv": lambda table: table.to_csv(path, index=False), "parquet": lambda table: table.to_parquet(path)}
    write[ending](table)
    read = sf.read_objects(path).objects
    assert read[["sequence", "frame", "object"]].to_numpy().tolist() == [
        ["2024-01-01", 1, 3],
        ["2024-01-01T12:30:00", 2, 4],
    ]
    write[ending](table.assign(frame=[1.0, 2.5]))
    with refused((f"{path}: column frame", "1 row", "frame 2.5", "object 4.0", "integers are needed")):
        sf.read_objects(path)


def test_files_that_are_wrong_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spotgeo_frames.formats.inspection.MOST_PROBLEMS", 5)
    path = save(tmp_path, [0] * 1000)
    with refused(*(f"{path}: [{position}]" for position in range(6))):
        sf.read_spotgeo(path)
    assert len(sf.validate_spotgeo(save(tmp_path, [0] * 1000), sequences=[1])) == 6


def test_parquet_that_unpacks_to_far_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_UNPACKED", 1 << 20)
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({name: np.zeros(1_000_000) for name in ("x", "y")}), path)
    for source in (path, tmp_path):
        with refused((f"{path}", "unpacks", "200 times")):
            sf.read_objects(source)


def test_a_folder_of_files_of_different_columns_that_unpacks_to_far_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST_UNPACKED", 10_000)
    monkeypatch.setattr("spotgeo_frames.formats.objects.LARGEST_RATIO", 1)
    for position in range(30):
        pq.write_table(pa.table({f"own_{position}": np.arange(100.0)}), tmp_path / f"{position}.parquet")
    with refused((f"{tmp_path}", "unpacks")):
        sf.read_objects(tmp_path)


def test_messages_name_the_file_after_reading(tmp_path: Path) -> None:
    truth = sf.read_spotgeo(save(tmp_path, GOOD, "truth.json"))
    path = save(tmp_path, GOOD[:2], "submission.json")
    with refused((f"{path}: 1 frame", "sequence 1, frame 1")):
        sf.match(truth, sf.read_spotgeo(path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD)
    path.chmod(0)
    with refused(f"{path}: cannot be read"):
        sf.read_spotgeo(path)


def test_a_folder_that_cannot_be_looked_into_is_not_left_out(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("a", "b"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "truth.parquet").write_bytes((sample / "truth.parquet").read_bytes())
    scandir = os.scandir

    def denied(path: str | Path) -> object:
        if Path(path).name == "b":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    with refused(f"{tmp_path}: cannot be read: Permission denied"):
        sf.read_objects(tmp_path)


def test_folders_are_told_by_what_they_hold(tracks: Path, poses: Path, sample: Path, tmp_path: Path) -> None:
    told = {
        name: sequence_layout(path) for name, path in {"truth": tracks / "truth", "flat": tracks / "tracker"}.items()
    }
    assert told == {"truth": "motchallenge", "flat": "motchallenge"}
    assert sequence_layout(poses / "truth") == "posetrack"
    for path in (sample / "truth.json", sample / "truth.parquet", sample, tmp_path, tmp_path / "no"):
        assert sequence_layout(path) is None
    (tmp_path / "a" / "gt").mkdir(parents=True)
    (tmp_path / "lengths.json").write_text("{}")
    assert sequence_layout(tmp_path) == "motchallenge"
    (tmp_path / "damaged.zip").write_bytes(b"PK")
    assert sequence_layout(tmp_path / "damaged.zip") is None


@pytest.mark.parametrize(("read", "folder"), [(sf.read_motchallenge, "tracks"), (sf.read_posetrack, "poses")])
def test_a_truth_alone(read, folder: str) -> None:
    truth, tracker = (PROJECT / "data" / folder / name for name in ("truth", "tracker"))
    alone, nothing = read(truth, None)
    expected, found = read(truth, tracker)
    pd.testing.assert_frame_equal(alone.objects, expected.objects)
    pd.testing.assert_frame_equal(alone.frames, expected.frames)
    assert len(nothing.objects) == 0
    assert {*found.objects} == {*nothing.objects}


CSV = """sequence,frame,object,x,y,night,month,score
007,0001,01,1,2,007,07,0
07,0001,1,1,2,7,07,1
7,002, 03,1,2,,08,00
"""


def test_a_text_with_leading_zeros_is_a_name(tmp_path: Path) -> None:
    """Identities and classes keep their zeros; of other columns those do in which two texts would be one number."""
    path = tmp_path / "truth.csv"
    path.write_text(CSV)
    read = sf.read_objects(path).objects
    assert read["sequence"].tolist() == ["007", "07", "7"]
    assert read["object"].tolist() == ["01", "1", "03"]
    assert read["frame"].tolist() == [1, 1, 2]
    assert read["night"].fillna("").tolist() == ["007", "7", ""]
    assert read["month"].tolist() == [7, 7, 8]
    assert read["score"].tolist() == [0, 1, 0]
    path.write_text(CSV.replace("007", "17").replace("07", "27").replace("01", "1").replace("03", "3"))
    assert sf.read_objects(path).objects["sequence"].tolist() == [17, 27, 7]


def test_names_with_zeros_against_numbers_name_the_cause(tmp_path: Path) -> None:
    paths = [tmp_path / "truth.csv", tmp_path / "found.csv"]
    paths[0].write_text("sequence,frame,object,x,y,category\n007,1,1,1,2,01\n")
    paths[1].write_text("sequence,frame,object,x,y,category\n7,1,1,1,2,1\n")
    sides = [sf.read_objects(path) for path in paths]
    with refused((f"{paths[1]}: column sequence", "'007'", "zero", "truth")):
        sf.match(*sides)
    with refused((f"{paths[0]}: column sequence", "'007'", "zero", "predictions")):
        sf.match(*sides[::-1])
    same = [side.objects.assign(sequence=1) for side in sides]
    with refused(("predictions: column category", "'01'", "zero")):
        sf.match(*same)


def test_folders_of_sequences_with_zeros_are_names_where_two_would_be_one_number(tmp_path: Path) -> None:
    table = objects([(1, 1, 0.0, 0.0)]).drop(columns="sequence")
    for name in ("007", "07"):
        folder = tmp_path / "truth" / f"sequence={name}" / "month=07"
        folder.mkdir(parents=True)
        table.to_parquet(folder / "part.parquet")
    read = sf.read_objects(tmp_path / "truth").objects
    assert sorted(read["sequence"]) == ["007", "07"]
    assert read["month"].tolist() == [7, 7]
    found = sf.score_dataset(tmp_path / "truth", tmp_path / "truth", by="sequence")
    assert found["sequence"].tolist() == ["007", "07"]
