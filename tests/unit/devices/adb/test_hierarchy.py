from __future__ import annotations

import pytest

from distrl.devices.adb.hierarchy import NoTree, parse
from distrl.types import Element

ANDROID = """UI hierchary dumped to: x
<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">
<node text="" class="android.widget.FrameLayout" resource-id="" content-desc="" bounds="[0,0][100,200]">
<node text="a &lt;b&gt;&#10;c" class="android.widget.TextView" content-desc="" clickable="false" bounds="[0,0][50,20]"/>
<node text="" content-desc="More" class="android.widget.ImageButton" clickable="true" bounds="[90,0][130,20]"/>
<node text="Wifi" class="android.widget.Switch" checkable="true" checked="true" bounds="[0,30][9,40]"/>
<node text="" class="android.widget.EditText" focused="true" clickable="true" bounds="[0,50][90,60]"/>
<node text="below" class="android.widget.TextView" bounds="[0,200][50,240]"/>
<node text="folded" class="android.widget.TextView" bounds="[0,0][0,0]"/>
</node></hierarchy>"""


def test_what_can_be_seen_or_touched_is_kept_and_cut_to_the_screen():
    assert parse(ANDROID, (100, 200)) == (
        Element("a <b>\nc", "text", (0, 0, 50, 20)),
        Element("More", "icon", (90, 0, 100, 20), clickable=True),
        Element("Wifi", "toggle", (0, 30, 9, 40), checked=True),
        Element("", "field", (0, 50, 90, 60), focused=True, clickable=True),
    )


@pytest.mark.parametrize("text", ["", "ERROR: could not get idle state.", "<?xml version='1.0'?><hierarchy><node"])
def test_what_is_no_tree_is_refused(text):
    with pytest.raises(NoTree):
        parse(text, (1, 1))


def test_a_tree_that_defines_entities_is_refused():
    with pytest.raises(NoTree):
        parse("<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'aaaa'>]><hierarchy>&a;</hierarchy>", (1, 1))
