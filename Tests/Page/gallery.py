"""Makes a feed that is long enough to scroll: the images of the demo, and parts of them."""

import json
import pathlib

import pictures
from PIL import Image, ImageOps

# For each image: the suffix of its name, a crop box (left, top, right, bottom) in fractions, whether it is mirrored, and
# the suffix of its description.
VIEWS = [
    ("", (0.0, 0.0, 1.0, 1.0), False, ""),
    ("-east", (0.38, 0.12, 1.0, 0.74), False, ", looking east"),
    ("-west", (0.0, 0.3, 0.62, 0.92), True, ", looking west"),
    ("-close", (0.25, 0.25, 0.7, 0.7), False, ", close up"),
]


def fill(cache, folder, base):
    """Copies the images into a folder and returns the items of their feed. Paints them only once."""
    cached_items = cache / "items.json"
    if not cached_items.exists():
        cache.mkdir(parents=True, exist_ok=True)
        cached_items.write_text(json.dumps(paint(cache)))
    for path in cache.iterdir():
        if path != cached_items:
            (folder / path.name).write_bytes(path.read_bytes())
    return json.loads(cached_items.read_text().replace("http://base.invalid", base))


def paint(folder):
    items = []
    first = pictures.paint_feed(folder, "http://base.invalid")
    # Items without an original or a thumbnail are last in each group.
    for suffix, box, isMirrored, description in VIEWS:
        for item in first:
            items.append(item if not suffix else view(folder, item, suffix, box, isMirrored, description))
    return items


def view(folder, item, suffix, box, isMirrored, description):
    source = folder / item["variants"][0]["url"].rsplit("/", 1)[1]
    picture = Image.open(source).convert("RGB")
    width, height = picture.size
    picture = picture.crop((int(box[0] * width), int(box[1] * height), int(box[2] * width), int(box[3] * height)))
    if isMirrored:
        picture = ImageOps.mirror(picture)
    stem = pathlib.Path(item["id"]).stem + suffix
    original, small = folder / f"{stem}.jpg", folder / f"{stem}-small.jpg"
    picture.save(original, quality=88)
    thumbnail = picture.copy()
    thumbnail.thumbnail((pictures.THUMBNAIL_WIDTH, pictures.THUMBNAIL_WIDTH), Image.LANCZOS)
    # Thumbnails as small as in real feeds, so that the saved data are visible.
    thumbnail.resize((thumbnail.width // 2, thumbnail.height // 2), Image.LANCZOS).save(small, quality=70)
    base = "http://base.invalid"
    return {
        "id": stem, "alt": item["alt"] + description,
        "variants": [
            pictures.variant("original", picture, original, base), pictures.variant("thumbnail", Image.open(small), small, base),
        ],
        "placeholder": {"color": pictures.average_colour(thumbnail)},
    }
