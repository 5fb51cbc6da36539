"""Pictures that carry a number, and a reader that finds these numbers on a screen.

A picture begins with three bands of colour, which encode its number. Below them is a painting with the number in digits.
An avatar has one colour only, because clients show it a few pixels high.
"""

import functools
import io
import itertools
import random

import pictures
from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"
LOW, HIGH = 30, 225
BAND_COLOURS = {
    "R": (HIGH, LOW, LOW), "G": (LOW, HIGH, LOW), "B": (LOW, LOW, HIGH),
    "Y": (HIGH, HIGH, LOW), "M": (HIGH, LOW, HIGH), "C": (LOW, HIGH, HIGH),
}
# Neighbours differ, so that a row of pixels shows where a band ends.
CODES = [
    "".join(code) for code in itertools.product(BAND_COLOURS, repeat=3) if code[0] != code[1] and code[1] != code[2]
]
AVATAR_COLOURS = {"avatar 1": (235, 130, 40), "avatar 2": (130, 40, 235), "avatar 3": (40, 130, 235)}
PAINTERS = [pictures.canyon, pictures.ridges, pictures.lights, pictures.pebbles]
SIZE = (1440, 1080)
BORDER = (128, 128, 128)


def encoded(picture, form, quality=85):
    output = io.BytesIO()
    picture.save(output, form, **({"quality": quality} if form == "JPEG" else {}))
    return output.getvalue()


@functools.cache
def original(number):
    """A photo of 250 to 470 kB, as a JPEG file."""
    return encoded(painted(number), "JPEG", 94)


@functools.cache
def thumbnail(number):
    """The same photo in about a twentieth of the bytes."""
    return encoded(painted(number).resize((320, 240), Image.LANCZOS), "JPEG", 75)


@functools.cache
def avatar(name):
    """A square of one colour with noise in its last rows, as a PNG file."""
    picture = Image.new("RGB", (120, 120), AVATAR_COLOURS[name])
    picture.paste(Image.effect_noise((120, 12), 60).convert("RGB"), (0, 108))
    return encoded(picture, "PNG")


@functools.cache
def emoji():
    picture = Image.new("RGBA", (64, 64))
    ImageDraw.Draw(picture).ellipse((4, 4, 60, 60), fill=(250, 200, 60, 255))
    return encoded(picture, "PNG")


@functools.cache
def painting(index):
    paint = PAINTERS[index]
    return paint(random.Random(index)).resize(SIZE, Image.LANCZOS)


def painted(number):
    width, height = SIZE
    picture = painting(number % len(PAINTERS)).copy()
    pen = ImageDraw.Draw(picture)
    bottom = height * 2 // 10
    pen.rectangle((0, 0, width, bottom), fill=BORDER)
    for index, colour in enumerate(CODES[number]):
        left = width * (1 + 2 * index) // 8
        pen.rectangle((left, 0, left + width * 2 // 8, bottom), fill=BAND_COLOURS[colour])
    pen.text(
        (width // 2, height * 6 // 10), str(number), fill="white", stroke_fill="black", stroke_width=6, anchor="mm",
        font=ImageFont.truetype(FONT, height * 3 // 10),
    )
    return picture


def found(rows):
    """The pictures in rows of pixels, given as (red, green, blue) or None: numbers and names of avatars.

    A picture counts if two rows show its code: the three colours in their order, between pixels of other colours.
    """
    seen, areas = {}, {}
    for row in rows:
        runs = [(letter, len(list(group))) for letter, group in itertools.groupby(map(band, row))]
        # Where two bands meet, a pixel may have a mixed colour.
        runs = [run for index, run in enumerate(runs) if run[0] or run[1] > 1 or index in (0, len(runs) - 1)]
        text = "".join(letter or " " for letter, count in runs)
        for word in text.split():
            if word in CODES:
                seen[CODES.index(word)] = seen.get(CODES.index(word), 0) + 1
        for pixel in row:
            for name, colour in AVATAR_COLOURS.items():
                if pixel and all(abs(one - other) < 20 for one, other in zip(pixel, colour)):
                    areas[name] = areas.get(name, 0) + 1
    return {number for number, count in seen.items() if count > 1} | {name for name, count in areas.items() if count > 3}


@functools.cache
def band(pixel):
    """The letter of a colour of the bands; None for other colours."""
    if not pixel or any(90 < part < 165 for part in pixel):
        return None
    bright = tuple(HIGH if part >= 165 else LOW for part in pixel)
    return next((letter for letter, colour in BAND_COLOURS.items() if colour == bright), None)


def found_in_image(picture, step=3):
    """The pictures in a screenshot."""
    picture = picture.convert("RGB")
    pixels = picture.load()
    return found([
        [pixels[x, y] for x in range(0, picture.width, step)] for y in range(0, picture.height, step)
    ])
