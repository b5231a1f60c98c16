/* The program around a compiled model: reads arrays from .npy or .npz files, runs the model, writes an .npz file.

   MODEL_HEADER and MODEL are defined on the command line of the compiler, WEIGHTS as well (the name of the file of weights in the
   program's folder) where they are not inside. Formats: numpy.lib.format version 1 and 2;
   PKWARE's APPNOTE for zip archives, stored entries with CRC-32. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include MODEL_HEADER
#ifdef WEIGHTS
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#endif

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define CALL(function) JOIN(MODEL, function)
#define MOST_AXES 32

static const char *program;

static void stop(const char *what, const char *name) {
  fprintf(stderr, "%s: %s%s%s\n", program, what, name ? ": " : "", name ? name : "");
  exit(1);
}

static void refuse(const char *input, const char *what) {
  fprintf(stderr, "%s: input '%s' %s\n", program, input, what);
  exit(1);
}

typedef struct { unsigned char *data; size_t size; } Bytes;

static Bytes read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) stop(strerror(errno), path);
  fgetc(file);  /* a folder can be opened and sought, but not read */
  if (ferror(file) || fseek(file, 0, SEEK_END)) stop(strerror(errno), path);
  long size = ftell(file);
  if (size < 0 || fseek(file, 0, SEEK_SET)) stop(strerror(errno), path);
  Bytes bytes = {malloc((size_t)size + 64), (size_t)size};
  if (!bytes.data) stop("not enough memory", path);
  if (fread(bytes.data, 1, bytes.size, file) != bytes.size) stop("cannot be read", path);
  fclose(file);
  return bytes;
}

#ifdef WEIGHTS
/* The path of the file of weights, which lies beside the program. */
static void find_weights(char *path, uint32_t size) {
#ifdef __APPLE__
  if (_NSGetExecutablePath(path, &size)) stop("has a path that is too long", NULL);
#else
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length < 0) stop(strerror(errno), "/proc/self/exe");
  path[length] = 0;
#endif
  char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (strlen(WEIGHTS) >= size - (size_t)(name - path)) stop("has a path that is too long", NULL);
  strcpy(name, WEIGHTS);
}

static const void *map_weights(void) {
  char path[4096];
  struct stat status;
  find_weights(path, sizeof path);
  int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &status)) stop(strerror(errno), path);
  void *data = status.st_size > 0 ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (data == MAP_FAILED || CALL(_weights_check)(data, (uint64_t)status.st_size)) stop("does not hold the weights of this program", path);
  return data;
}
#endif

static uint32_t little(const unsigned char *at, int count) {
  uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | at[i];
  return value;
}

/* numpy's name of a dtype, such as "<f4". */
static void describe(DLDataType type, char *text) {
  const char *kinds = "iufV_Vb";
  char kind = type.code <= 6 ? kinds[type.code] : 'V';
  sprintf(text, "%c%c%d", type.bits == 8 || kind == 'V' ? '|' : '<', kind, type.bits / 8);
}

/* The tensor in the bytes of a .npy file; its data stays in them unless it must be aligned. */
static void parse_npy(Bytes file, int32_t input, DLTensor *tensor) {
  const char *name = CALL(_input_name)(input);
  if (file.size < 10 || memcmp(file.data, "\x93NUMPY", 6)) refuse(name, "is no .npy data");
  size_t start = file.data[6] == 1 ? 10 : 12, length = little(file.data + 8, file.data[6] == 1 ? 2 : 4);
  if (file.data[6] > 3 || start + length > file.size) refuse(name, "is damaged");
  char *text = malloc(length + 1);
  memcpy(text, file.data + start, length);
  text[length] = 0;
  char wanted[16];
  tensor->dtype = CALL(_input_dtype)(input);
  describe(tensor->dtype, wanted);
  char *descr = strstr(text, "'descr':"), *shape = strstr(text, "'shape':");
  descr = descr ? strchr(descr + 8, '\'') : NULL;
  shape = shape ? strchr(shape, '(') : NULL;
  if (!descr || !shape) refuse(name, "has a header that is not understood");
  if (strncmp(descr + 2, wanted + 1, strlen(wanted) - 1) || descr[1] == '>') {
    fprintf(stderr, "%s: input '%s' has dtype %.*s, but the model takes %s\n", program, name, (int)strcspn(descr + 1, "'"), descr + 1, wanted);
    exit(1);
  }
  if (strstr(text, "'fortran_order': True")) refuse(name, "is in Fortran order: save it in C order");
  int64_t count = 1;
  tensor->ndim = 0;
  for (char *at = shape + 1; *at && *at != ')';) {
    if (*at < '0' || *at > '9') { ++at; continue; }
    if (tensor->ndim == MOST_AXES) refuse(name, "has too many axes");
    int64_t size = strtoll(at, &at, 10);
    tensor->shape[tensor->ndim++] = size;
    if (size && count > INT64_MAX / 64 / size) refuse(name, "is too large");
    count *= size;
  }
  free(text);
  size_t bytes = (size_t)count * tensor->dtype.bits / 8;
  if (start + length + bytes > file.size) {
    fprintf(stderr, "%s: input '%s' is truncated: %zu bytes of data, but its header announces %zu\n", program, name, file.size - start - length, bytes);
    exit(1);
  }
  tensor->data = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!tensor->data) stop("not enough memory", name);
  memcpy(tensor->data, file.data + start + length, bytes);
}

/* The bytes of an entry of a zip archive. */
static Bytes find_entry(Bytes zip, const char *name) {
  char wanted[512];
  snprintf(wanted, sizeof wanted, "%s.npy", name);
  size_t at = zip.size < 22 ? 0 : zip.size - 22;
  while (at && little(zip.data + at, 4) != 0x06054b50) --at;
  if (!at) stop("the input is no .npz file", NULL);
  uint32_t count = little(zip.data + at + 10, 2);
  size_t entry = little(zip.data + at + 16, 4);
  for (uint32_t i = 0; i < count; ++i) {
    if (entry + 46 > zip.size || little(zip.data + entry, 4) != 0x02014b50) stop("the .npz file is damaged", NULL);
    const unsigned char *e = zip.data + entry;
    uint32_t method = little(e + 10, 2), size = little(e + 20, 4), length = little(e + 28, 2);
    size_t local = little(e + 42, 4);
    if (length == strlen(wanted) && entry + 46 + length <= zip.size && !memcmp(e + 46, wanted, length)) {
      if (method) stop("is compressed: write it with numpy.savez", wanted);
      if (size == 0xffffffffu) stop("has 4 GB or more: give a .npy file", wanted);
      if (local + 30 > zip.size) stop("the .npz file is damaged", wanted);
      size_t begin = local + 30 + little(zip.data + local + 26, 2) + little(zip.data + local + 28, 2);
      if (begin + size > zip.size) stop("the .npz file is truncated", wanted);
      return (Bytes){zip.data + begin, size};
    }
    entry += 46 + length + little(e + 30, 2) + little(e + 32, 2);
  }
  stop("the .npz file has no array", name);
  return zip;
}

static uint32_t crc32_of(uint32_t crc, const unsigned char *data, size_t size) {
  static uint32_t table[256];
  if (!table[1]) {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      table[i] = c;
    }
  }
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) crc = table[(crc ^ data[i]) & 255] ^ (crc >> 8);
  return ~crc;
}

static void put(FILE *file, uint32_t value, int count) {
  for (int i = 0; i < count; ++i) fputc((int)(value >> (8 * i) & 255), file);
}

typedef struct { char name[260], header[1024]; size_t header_size, bytes; uint32_t crc; long offset; } Written;

static void write_entry(FILE *file, Written *entry, const char *name, const DLTensor *tensor) {
  char kind[16], shape[700] = "";
  describe(tensor->dtype, kind);
  entry->bytes = tensor->dtype.bits / 8;
  for (int i = 0; i < tensor->ndim; ++i) {
    sprintf(shape + strlen(shape), "%lld,", (long long)tensor->shape[i]);
    entry->bytes *= (size_t)tensor->shape[i];
  }
  int length = snprintf(entry->header + 10, 1000, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, shape);
  while ((length + 11) % 64) entry->header[10 + length++] = ' ';
  entry->header[10 + length++] = '\n';
  memcpy(entry->header, "\x93NUMPY\x01\x00", 8);
  entry->header[8] = (char)(length & 255);
  entry->header[9] = (char)(length >> 8);
  entry->header_size = 10 + (size_t)length;
  snprintf(entry->name, sizeof entry->name, "%.250s.npy", name);
  entry->crc = crc32_of(crc32_of(0, (unsigned char *)entry->header, entry->header_size), tensor->data, entry->bytes);
  size_t size = entry->header_size + entry->bytes;
  if (size > 0xfffffff0u) stop("an output has 4 GB or more", name);
  entry->offset = ftell(file);
  put(file, 0x04034b50, 4); put(file, 20, 2); put(file, 0, 4); put(file, 0x00210000, 4); put(file, entry->crc, 4);
  put(file, (uint32_t)size, 4); put(file, (uint32_t)size, 4); put(file, (uint32_t)strlen(entry->name), 2); put(file, 0, 2);
  fputs(entry->name, file);
  fwrite(entry->header, 1, entry->header_size, file);
  if (entry->bytes) fwrite(tensor->data, 1, entry->bytes, file);
}

static void write_npz(const char *path, DLTensor *outputs, int32_t count) {
  FILE *file = fopen(path, "wb");
  if (!file) stop(strerror(errno), path);
  Written *entries = calloc((size_t)count + 1, sizeof *entries);
  for (int32_t i = 0; i < count; ++i) write_entry(file, &entries[i], CALL(_output_name)(i), &outputs[i]);
  long start = ftell(file);
  for (int32_t i = 0; i < count; ++i) {
    uint32_t size = (uint32_t)(entries[i].header_size + entries[i].bytes);
    put(file, 0x02014b50, 4); put(file, 20, 2); put(file, 20, 2); put(file, 0, 4); put(file, 0x00210000, 4); put(file, entries[i].crc, 4);
    put(file, size, 4); put(file, size, 4); put(file, (uint32_t)strlen(entries[i].name), 2);
    put(file, 0, 4); put(file, 0, 4); put(file, 0, 4); put(file, (uint32_t)entries[i].offset, 4);
    fputs(entries[i].name, file);
  }
  long end = ftell(file);
  put(file, 0x06054b50, 4); put(file, 0, 4); put(file, (uint32_t)count, 2); put(file, (uint32_t)count, 2);
  put(file, (uint32_t)(end - start), 4); put(file, (uint32_t)start, 4); put(file, 0, 2);
  free(entries);
  if (ferror(file) | fclose(file)) stop("cannot be written", path);
}

static void usage(void) {
  fprintf(stderr, "usage: %s INPUT.npz|INPUT.npy... OUTPUT.npz\n", program);
  fprintf(stderr, "One .npz file with all inputs, or one .npy file for each, in order:\n");
  for (int32_t i = 0; i < CALL(_input_count)(); ++i) fprintf(stderr, "  %s\n", CALL(_input_name)(i));
  exit(2);
}

int main(int count, char **words) {
  program = words[0];
  int32_t inputs = CALL(_input_count)(), outputs = CALL(_output_count)();
  size_t length = strlen(words[count > 1 ? 1 : 0]);
  int archive = count == 3 && length > 4 && !strcmp(words[1] + length - 4, ".npz");
  if (!archive && count != inputs + 2) usage();
  size_t all = (size_t)(inputs + outputs) + 1;
  DLTensor *tensors = calloc(all, sizeof *tensors), **pointers = calloc(all, sizeof *pointers);
  int64_t *shapes = calloc(all * MOST_AXES, sizeof *shapes);
  Bytes zip = {NULL, 0};
  if (archive) zip = read_file(words[1]);
  for (int32_t i = 0; i < inputs + outputs; ++i) {
    pointers[i] = &tensors[i];
    tensors[i].device.device_type = kDLCPU;
    tensors[i].shape = shapes + (size_t)i * MOST_AXES;
  }
  for (int32_t i = 0; i < inputs; ++i) {
    Bytes file = archive ? find_entry(zip, CALL(_input_name)(i)) : read_file(words[i + 1]);
    parse_npy(file, i, &tensors[i]);
    if (!archive) free(file.data);
  }
  free(zip.data);
  for (int32_t i = 0; i < outputs; ++i) {
    tensors[inputs + i].ndim = CALL(_output_ndim)(i);
    tensors[inputs + i].dtype = CALL(_output_dtype)(i);
  }
  onemlir_detail detail;
  onemlir_options options;
  memset(&options, 0, sizeof options);
#ifdef WEIGHTS
  options.weights = map_weights();
#endif
  int32_t code = CALL(_run_tensors)(&options, &detail, pointers);
  if (code) {
    fprintf(stderr, "%s: %s (found %lld, expected %lld)\n", program, CALL(_error)(code), (long long)detail.found,
            (long long)detail.expected);
    return 1;
  }
  write_npz(words[count - 1], tensors + inputs, outputs);
  for (int32_t i = 0; i < inputs; ++i) free(tensors[i].data);
  for (int32_t i = 0; i < outputs; ++i) CALL(_free)(tensors[inputs + i].data);
  free(tensors); free(pointers); free(shapes);
  return 0;
}
