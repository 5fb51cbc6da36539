"""Paints the images of the demo's feed: JPEG, WebP and PNG, as originals and thumbnails."""

import math
import random

from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageOps

SIZE = (1600, 1067)
THUMBNAIL_WIDTH = 320


def noise(rng, size, cells, octaves=5):
    """Grey fractal noise: random points in several octaves, each finer and fainter than the previous one."""
    picture = None
    for octave in range(octaves):
        columns = cells << octave
        rows = max(2, columns * size[1] // size[0])
        points = Image.frombytes("L", (columns, rows), rng.randbytes(columns * rows))
        layer = points.resize(size, Image.BICUBIC)
        picture = layer if picture is None else Image.blend(picture, layer, 0.5 ** (octave + 0.4))
    return ImageOps.autocontrast(picture)


def gradient(size, colours):
    """A vertical gradient."""
    strip = Image.new("RGB", (1, len(colours)))
    strip.putdata(colours)
    return strip.resize(size, Image.BICUBIC)


def glow(size, centre, radius, colour):
    """A glow around a point, to blend with the mode screen."""
    light = Image.radial_gradient("L").resize((2 * radius, 2 * radius), Image.BILINEAR)
    light = ImageOps.invert(light).point(lambda value: max(0, value - 75) * 255 // 180)
    layer = Image.new("RGB", size)
    layer.paste(ImageOps.colorize(light, "black", colour), (centre[0] - radius, centre[1] - radius))
    return layer


def grain(rng, picture, strength):
    """Adds the noise of a camera sensor."""
    dots = Image.frombytes("L", picture.size, rng.randbytes(picture.width * picture.height))
    dots = dots.point(lambda value: 128 + (value - 128) * strength // 5).convert("RGB")
    return Image.blend(picture, ImageChops.overlay(picture, dots), 0.2)


def ridges(rng):
    """Mountain ridges at dusk."""
    picture = gradient(SIZE, [(24, 30, 66), (88, 66, 120), (226, 120, 104), (255, 196, 128), (255, 226, 170)])
    picture = ImageChops.screen(picture, glow(SIZE, (1080, 560), 520, (255, 214, 150)))
    clouds = noise(rng, SIZE, 3).point(lambda value: max(0, value - 120))
    picture = Image.composite(gradient(SIZE, [(70, 52, 96), (255, 170, 140)]), picture, clouds)
    for depth in range(6):
        base = 520 + depth * 95
        waves = [(rng.uniform(1, 3) * 2**n, rng.uniform(0, 6.3), (75 - 6 * depth) / 1.75**n) for n in range(7)]
        edge = [
            (x, base + sum(height * math.sin(x * often / 400 + shift) for often, shift, height in waves))
            for x in range(0, SIZE[0] + 4, 4)
        ]
        mask = Image.new("L", SIZE)
        ImageDraw.Draw(mask).polygon(edge + [(SIZE[0], SIZE[1]), (0, SIZE[1])], fill=255)
        haze = 1 - depth / 6
        near = tuple(int(18 + part * haze) for part in (150, 84, 112))
        far = tuple(int(24 + part * haze) for part in (205, 130, 130))
        rock = ImageOps.colorize(noise(rng, SIZE, 24, 4), "#999", "#fff")
        slope = ImageChops.multiply(gradient(SIZE, [far, near]), rock)
        picture.paste(slope, mask=mask)
    return grain(rng, picture, 4)


def lights(rng):
    """A city at night, out of focus."""
    picture = gradient(SIZE, [(6, 8, 22), (22, 20, 46), (52, 32, 40), (14, 12, 18)])
    colours = ["#ffb347", "#ff6f61", "#ffd97d", "#7fd1ff", "#c792ea", "#ff9e64", "#9ece6a"]
    for layer in range(5):
        drops = Image.new("RGB", SIZE)
        pen = ImageDraw.Draw(drops)
        for _ in range(60):
            x, y = rng.randrange(SIZE[0]), int(rng.gauss(560, 170))
            r = rng.randrange(10 + 6 * layer, 26 + 12 * layer)
            pen.ellipse((x - r, y - r, x + r, y + r), fill=rng.choice(colours), outline="white", width=2)
        drops = drops.filter(ImageFilter.GaussianBlur(1.5 + layer))
        picture = ImageChops.screen(picture, ImageEnhance.Brightness(drops).enhance(0.55 - 0.07 * layer))
    street = picture.crop((0, 300, SIZE[0], 700)).transpose(Image.FLIP_TOP_BOTTOM).resize((SIZE[0], 367))
    picture.paste(ImageEnhance.Brightness(street.filter(ImageFilter.BoxBlur(9))).enhance(0.45), (0, 700))
    return grain(rng, picture, 5)


def pebbles(rng):
    """A beach of stones, each lit from the left."""
    picture = ImageOps.colorize(noise(rng, SIZE, 60, 4), "#2b2622", "#6b6056")
    tones = [(148, 138, 126), (112, 108, 110), (176, 160, 136), (92, 84, 82), (196, 186, 172), (134, 98, 82)]
    textures = [noise(rng, (400, 300), 9, 5) for _ in range(6)]
    for _ in range(1500):
        width, height = rng.randrange(40, 110), rng.randrange(30, 78)
        tone = [part + rng.randrange(-18, 18) for part in rng.choice(tones)]
        grey = rng.choice(textures)
        left, top = rng.randrange(400 - width), rng.randrange(300 - height)
        stone = ImageOps.colorize(
            grey.crop((left, top, left + width, top + height)),
            tuple(int(part * 0.62) for part in tone),
            tuple(min(255, int(part * 1.18)) for part in tone),
        )
        light = Image.linear_gradient("L").rotate(60 + rng.randrange(60)).resize((width, height))
        stone = ImageChops.multiply(stone, ImageOps.colorize(light, "#fff", "#5a5550"))
        mask = Image.new("L", (width, height))
        ImageDraw.Draw(mask).ellipse((1, 1, width - 2, height - 2), fill=255)
        angle = rng.randrange(180)
        stone, mask = stone.rotate(angle, expand=True), mask.rotate(angle, Image.BICUBIC, expand=True)
        at = (rng.randrange(-60, SIZE[0]), rng.randrange(-60, SIZE[1]))
        picture.paste("#1c1916", (at[0] + 4, at[1] + 6), mask.filter(ImageFilter.GaussianBlur(3)))
        picture.paste(stone, at, mask)
    return picture


def clouds(rng):
    """Clouds over a calm sea."""
    sky = gradient((SIZE[0], 720), [(38, 84, 150), (110, 160, 208), (214, 226, 232)])
    high = noise(rng, sky.size, 2, 6).point(lambda value: min(255, max(0, value - 96) * 2))
    lit = ImageOps.colorize(noise(rng, sky.size, 5, 6), "#8a94a4", "#ffffff")
    sky.paste(lit, mask=high)
    sea = ImageOps.flip(sky).resize((SIZE[0], SIZE[1] - 720)).filter(ImageFilter.BoxBlur(6))
    swell = Image.frombytes("L", (60, 140), rng.randbytes(60 * 140)).resize(sea.size, Image.BICUBIC)
    sea = ImageChops.multiply(sea, ImageOps.colorize(swell, "#45606e", "#c4dade"))
    picture = Image.new("RGB", SIZE)
    picture.paste(sky, (0, 0))
    picture.paste(sea, (0, 720))
    return grain(rng, picture, 3)


def contours(rng):
    """A map of an island with few colours, which suits PNG."""
    height = noise(rng, SIZE, 4, 6).filter(ImageFilter.GaussianBlur(2))
    shore = ImageOps.invert(Image.radial_gradient("L")).resize(SIZE, Image.BICUBIC)
    height = ImageOps.autocontrast(Image.blend(height, shore, 0.55))
    tints = ["#2f5d8a", "#3f74a3", "#5b8fb9", "#86b3d1", "#d9d3a3", "#b9c98b", "#94b873", "#7da265", "#a99a63",
             "#b58855", "#a06a48", "#8a5a49", "#c9c1bd", "#f4f2f0"]
    steps = height.point(lambda value: value * len(tints) // 256)
    steps.putpalette([part for tint in tints for part in bytes.fromhex(tint[1:])])
    picture = steps.convert("RGB")
    lines = height.point(lambda value: value * 40 // 256 * 6).filter(ImageFilter.FIND_EDGES)
    picture.paste("#5b4a3a", mask=lines.point(lambda value: 90 if value else 0))
    return picture.quantize(48, dither=Image.Dither.NONE)


def canyon(rng):
    """Layers of sandstone."""
    bands = Image.frombytes("L", (3, 64), rng.randbytes(3 * 64)).resize(SIZE, Image.BICUBIC)
    bends = noise(rng, SIZE, 3, 3)
    rock = Image.blend(bands, bends, 0.25)
    rock = ImageOps.colorize(ImageOps.autocontrast(rock), "#4a1f14", "#f6c48a", mid="#c4612f")
    rough = noise(rng, SIZE, 40, 5)
    rock = ImageChops.multiply(rock, ImageOps.colorize(rough, "#8d8580", "#ffffff"))
    def shift(x):
        return 150 + 90 * math.sin(x / 210) + 50 * math.sin(x / 75 + 1)

    height = SIZE[1] - 300
    mesh = [
        (
            (x, 0, x + 8, SIZE[1]),
            (x, shift(x), x, shift(x) + height, x + 8, shift(x + 8) + height, x + 8, shift(x + 8)),
        )
        for x in range(0, SIZE[0], 8)
    ]
    return ImageEnhance.Contrast(rock.transform(SIZE, Image.MESH, mesh, Image.BICUBIC)).enhance(1.15)


# Name, painter, description, options of the original and the thumbnail, and which of the two the feed has.
FEED = [
    ("ridges.jpg", ridges, "Mountain ridges at dusk", {"quality": 90}, {"quality": 85}, "both"),
    ("lights.jpg", lights, "A city at night, out of focus", {"quality": 93}, {"quality": 88}, "both"),
    ("clouds.webp", clouds, "Clouds over a calm sea", {"quality": 92}, {"quality": 88}, "both"),
    ("island.png", contours, "The map of an island", {"optimize": True}, {"optimize": True}, "both"),
    ("canyon.jpg", canyon, "Layers of sandstone", {"quality": 86}, {"quality": 80}, "original"),
    ("pebbles.webp", pebbles, "Stones on a beach", {"quality": 60}, {"quality": 70}, "thumbnail"),
]


def average_colour(picture):
    return "#%02x%02x%02x" % picture.convert("RGB").resize((1, 1), Image.BOX).getpixel((0, 0))


def variant(role, picture, path, base):
    return {
        "role": role, "url": f"{base}/{path.name}", "width": picture.width, "height": picture.height,
        "bytes": path.stat().st_size, "type": Image.MIME[Image.open(path).format],
    }


def paint_feed(folder, base):
    """Writes the images into a folder, and returns the items of their feed with URLs below `base`."""
    items = []
    for number, (name, paint, description, options, thumbnail_options, has) in enumerate(FEED):
        # A fixed seed paints the same image every time.
        original = paint(random.Random(number))
        stem, suffix = name.split(".")
        thumbnail = original.convert("RGB")
        thumbnail.thumbnail((THUMBNAIL_WIDTH, THUMBNAIL_WIDTH), Image.LANCZOS)
        if suffix == "png":
            thumbnail = thumbnail.quantize(32, dither=Image.Dither.NONE)
        variants = []
        if has != "thumbnail":
            original.save(folder / name, **options)
            variants.append(variant("original", original, folder / name, base))
        if has != "original":
            small = folder / f"{stem}-small.{suffix}"
            thumbnail.save(small, **thumbnail_options)
            variants.append(variant("thumbnail", thumbnail, small, base))
        items.append(
            {
                "id": name, "alt": description, "variants": variants,
                "placeholder": {"color": average_colour(thumbnail)},
            }
        )
    return items
