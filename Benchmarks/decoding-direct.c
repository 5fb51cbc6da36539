// Decodes one image with its library alone, as directly as possible, for comparison in Benchmarks/decoding.
// Decodes JPEG and WebP at the smallest size of the library that is at least WIDTH wide. Resamples nothing.
//
//   decoding-direct FILE WIDTH
#include <avif/avif.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>
#include <webp/decode.h>

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) return NULL;
  fclose(file);
  return bytes;
}

static int jpeg(const unsigned char *bytes, size_t size, int width) {
  tjhandle decoder = tjInitDecompress();
  int w, h, sampling, space, part = 8;
  if (tjDecompressHeader3(decoder, bytes, size, &w, &h, &sampling, &space) != 0) return 1;
  while (part > 1 && w * (part / 2) / 8 >= width) part /= 2;
  tjscalingfactor factor = {part, 8};
  w = TJSCALED(w, factor), h = TJSCALED(h, factor);
  unsigned char *pixels = malloc((size_t)w * h * 4);
  int result = tjDecompress2(decoder, bytes, size, pixels, w, 0, h, TJPF_RGBA, 0);
  free(pixels);
  tjDestroy(decoder);
  return result;
}

static int png(const unsigned char *bytes, size_t size) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_memory(&image, bytes, size)) return 1;
  image.format = PNG_FORMAT_RGBA;
  unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
  int is_done = png_image_finish_read(&image, NULL, pixels, 0, NULL);
  free(pixels);
  return !is_done;
}

static int webp(const unsigned char *bytes, size_t size, int width) {
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  if (WebPGetFeatures(bytes, size, &config.input) != VP8_STATUS_OK) return 1;
  config.options.use_scaling = 1;
  config.options.scaled_width = width;
  config.options.scaled_height = config.input.height * width / config.input.width;
  config.output.colorspace = MODE_RGBA;
  int is_bad = WebPDecode(bytes, size, &config) != VP8_STATUS_OK;
  WebPFreeDecBuffer(&config.output);
  return is_bad;
}

static int avif(const unsigned char *bytes, size_t size) {
  avifDecoder *decoder = avifDecoderCreate();
  avifImage *image = avifImageCreateEmpty();
  if (avifDecoderReadMemory(decoder, image, bytes, size) != AVIF_RESULT_OK) return 1;
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = 8;
  avifRGBImageAllocatePixels(&rgb);
  int is_bad = avifImageYUVToRGB(image, &rgb) != AVIF_RESULT_OK;
  avifRGBImageFreePixels(&rgb);
  avifImageDestroy(image);
  avifDecoderDestroy(decoder);
  return is_bad;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  size_t size = 0;
  unsigned char *bytes = read_file(arguments[1], &size);
  if (bytes == NULL || size < 12) return 1;
  int width = atoi(arguments[2]);
  if (bytes[0] == 0xFF) return jpeg(bytes, size, width);
  if (bytes[0] == 0x89) return png(bytes, size);
  if (memcmp(bytes, "RIFF", 4) == 0) return webp(bytes, size, width);
  return avif(bytes, size);
}
