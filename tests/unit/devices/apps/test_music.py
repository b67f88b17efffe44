"""The music player."""

from __future__ import annotations


def test_a_tapped_song_plays_until_it_is_paused(use):
    finger = use("music")
    title = finger.data["songs"][4]["title"]
    finger.tap(title, "row")
    assert (finger.data["playing"], finger.data["paused"]) == (title, False)
    finger.tap("Pause")
    assert finger.data["paused"]
    finger.tap("Next")
    assert finger.data["playing"] == finger.data["songs"][5]["title"]


def test_a_song_goes_into_a_playlist_and_out_again(use):
    finger = use("music")
    playlist = finger.data["playlists"][0]
    title = next(s["title"] for s in finger.data["songs"] if s["title"] not in playlist["songs"])
    finger.tap(title, "row")
    finger.tap("Add to playlist")
    finger.tap(playlist["name"])
    assert title in playlist["songs"]
    finger.tap("Close")
    finger.back()
    finger.tap("Playlists", "tab")
    finger.tap(playlist["name"], "row")
    finger.hold(title)
    finger.tap("Remove from list")
    assert title not in playlist["songs"]


def test_a_song_is_liked_and_unliked_from_its_menu(use):
    finger = use("music")
    song = next(s for s in finger.data["songs"][:5] if not s["liked"])
    finger.hold(song["title"])
    finger.tap("Like")
    assert song["liked"]
    finger.hold(song["title"])
    finger.tap("Unlike")
    assert not song["liked"]


def test_no_two_playlists_share_a_name(use):
    finger = use("music")
    names = [playlist["name"] for playlist in finger.data["playlists"]]
    finger.tap("Playlists", "tab")
    finger.tap("New playlist")
    finger.write("Playlist name", names[0])
    finger.tap("Create")
    assert finger.page == "new"
    finger.write(names[0], " again")
    finger.tap("Create")
    assert [playlist["name"] for playlist in finger.data["playlists"]] == [*names, f"{names[0]} again"]


def test_search_finds_songs_by_their_artist(use):
    finger = use("music")
    artist = finger.data["songs"][0]["artist"]
    finger.tap("Search")
    finger.write("Search music", artist)
    finger.enter()
    by = {song["title"]: song["artist"] for song in finger.data["songs"]}
    assert artist in {by[title] for title in finger.texts("row")}
    assert finger.data["songs"][0]["title"] in finger.texts("row")
