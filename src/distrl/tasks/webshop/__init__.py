"""The suite `webshop`: shopping in the phone's browser, on three levels. Each template belongs to one shop, so that
a shop held out is an app held out.

1. `visiting`: go to a site and one of its pages. 2. `searching`: find goods on it. 3. `choosing` and `buying`:
sort, filter, open, read, fill the cart.
"""

from __future__ import annotations

from distrl.tasks.splits import TemplateSuite
from distrl.tasks.webshop import buying, choosing, searching, visiting
from distrl.tasks.webshop.goods import SHOPS

HELD_OUT_SHOPS = frozenset({"goodcart", "buynest"})
LEVELS = (visiting, searching, choosing, buying)

SUITE = TemplateSuite(
    "webshop", tuple(t for shop in SHOPS for level in LEVELS for t in level.templates(shop)), HELD_OUT_SHOPS
)
