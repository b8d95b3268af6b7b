/* The state of a search, and the array and the table that states are kept in.
 *
 * Every state is stored whole, in the order of discovery; this array is the queue, too. The table holds, in 32 bits a
 * slot, a state's number (from 1) and as much of its hash as there is room for; whether two states are the same is
 * decided by the states. The table is in PARTS, each for the states whose hash begins alike, so that several threads can
 * work on it, each in another part.
 */
#define _GNU_SOURCE /* mremap */
#include "problem.h"
#include "normal.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define PART_BITS 3
#define PARTS (1 << PART_BITS)
#define CHUNKS (4096 / LANES) /* in a round */
#define BEYOND LANES    /* states that may be read behind the last one */

enum { GOES_ON, MOST_STATES, AFTER_VIOLATION, NO_MEMORY };

typedef struct { int64_t source; int32_t depth, instance; } Found;

/* Up to LANES neighbouring states that are expanded together, and their steps, state by state. */
typedef struct {
  uint64_t source, edge;      /* the first state, the first edge */
  uint32_t states, entries, room, new_number;
  uint32_t first[LANES + 1];  /* by state: where its steps begin */
  uint32_t part[PARTS + 1];   /* where in `order` the entries of a part of the table begin */
  uint32_t fresh[PARTS];      /* how many of them led to new states */
  Entry *entry;
  uint32_t *order;            /* the entries by the part of the table that they belong in */
} Chunk;

/* What one thread needs for itself. */
typedef struct {
  V *s, *t;                   /* the cells before and after; t is as s between two uses, if `copied` */
  int copied;
  uint64_t *guard, *on;       /* by guard and by instance, a bit a state */
  Found *found;               /* of this round */
  uint64_t *fired, *alone;    /* since they were last gathered */
  uint64_t transitions, beyond;
} Worker;

typedef struct {
  const Problem *p;
  State *states;
  int32_t *parents;
  int16_t *via;
  uint64_t count, room;
  uint32_t *slots;
  uint32_t bits;
  /* the graph, if it is kept */
  int keep;
  uint64_t *first_edge;
  int32_t *targets;
  int16_t *taken;
  uint64_t edges, edge_room;
  /* where it stands */
  uint64_t done, transitions, beyond;
  int32_t depth;
  int stopped;
  uint64_t most, more;          /* bounds on states, in all and after the first violation; 0 for none */
  int64_t broken_at;            /* how many states were known when something was first violated; -1 if nothing is */
  Found *found;                 /* by property, then by field whose bounds are left; depth -1 if not found */
  uint64_t *fired, *alone;      /* by rule; by guard that an instance needs */
  uint32_t watched, watched_steps;  /* witnesses that were not met yet, and those of them that are of a step */
  uint32_t *watch;              /* triples: number, condition, whether of a step */
  uint8_t *met;
  uint32_t threads;
  /* of the round */
  uint32_t chunks;
  Chunk *chunk;
  Entry **todo;                 /* the entries by part of the table */
  uint64_t todo_room, todo_first[PARTS + 1];
  uint64_t judged;              /* states that were */
  Worker *worker;
  void *team;
} Search;

static inline uint64_t hash_of(const State *x) {
  uint64_t h = 0;
  for (int i = 0; i < WORDS; i++) h = (h ^ x->w[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  return h ^ (h >> 32);
}

/* ---------------------------------------------------------------------------------------------------------- arrays */
/* Large arrays: of huge pages where there are any, since they are read here and there. All zero at first. */
static void *map(size_t size) {
#if defined(__linux__)
  void *made = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return 0;
  madvise(made, size, MADV_HUGEPAGE);
  return made;
#else
  return calloc(1, size);
#endif
}

static void unmap(void *array, size_t size) {
#if defined(__linux__)
  if (array) munmap(array, size);
#else
  (void)size;
  free(array);
#endif
}

static int grow(void **array, size_t each, uint64_t from, uint64_t to) {
#if defined(__linux__)
  void *made = mremap(*array, each * from, each * to, MREMAP_MAYMOVE);
  if (made == MAP_FAILED) return 0;
  madvise(made, each * to, MADV_HUGEPAGE);
#else
  void *made = realloc(*array, each * to);
  if (!made) return 0;
#endif
  *array = made;
  return 1;
}

static int more_states(Search *f, uint64_t needed) {
  uint64_t room = f->room;
  while (room < needed) room += room / 2;
  if (room == f->room) return 1;
  if (room >= INT32_MAX) return 0;
  if (!grow((void **)&f->states, sizeof(State), f->room + BEYOND, room + BEYOND)) return 0;
  if (!grow((void **)&f->parents, sizeof(int32_t), f->room, room)) return 0;
  if (!grow((void **)&f->via, sizeof(int16_t), f->room, room)) return 0;
  if (f->keep && !grow((void **)&f->first_edge, sizeof(uint64_t), f->room + 1, room + 1)) return 0;
  f->room = room;
  return 1;
}

static int more_edges(Search *f, uint64_t needed) {
  uint64_t room = f->edge_room;
  while (room < needed) room += room / 2;
  if (room == f->edge_room) return 1;
  if (!grow((void **)&f->targets, sizeof(int32_t), f->edge_room, room)) return 0;
  if (!grow((void **)&f->taken, sizeof(int16_t), f->edge_room, room)) return 0;
  f->edge_room = room;
  return 1;
}

/* ------------------------------------------------------------------------------------------------------- the table */
/* The slots of a line are looked at together: the first line that its hash names has the state, or is full, and then the
 * next one of its part may have it. */
#define LINE 16

typedef uint32_t Line __attribute__((vector_size(LINE * sizeof(uint32_t))));

static inline uint32_t part_of(uint64_t hash) { return (uint32_t)(hash >> (64 - PART_BITS)); }

/* The first slot of a line. */
static inline uint64_t line_at(uint64_t hash, uint32_t bits) {
  const uint32_t inner = bits - PART_BITS;
  return (uint64_t)part_of(hash) << inner | (hash & (((uint64_t)1 << inner) - LINE));
}

static inline uint64_t line_after(uint64_t at, uint32_t bits) {
  const uint64_t inner = ((uint64_t)1 << (bits - PART_BITS)) - 1;
  return (at & ~inner) | ((at + LINE) & inner);
}

/* Which bits of a slot are the state's number, and the others for a hash. */
static inline uint32_t numbers(uint32_t bits) { return bits == 32 ? ~(uint32_t)0 : ((uint32_t)1 << bits) - 1; }
static inline uint32_t tag_for(uint64_t hash, uint32_t bits) { return bits == 32 ? 0 : (uint32_t)(hash >> 32) << bits; }

/* In which slots of a line the numbers are the same, a bit each. */
INLINE uint32_t alike(Line a, Line b) {
#if defined(__AVX512F__)
  typedef int I16 __attribute__((vector_size(64)));
  return (uint16_t)__builtin_ia32_cmpd512_mask((I16)a, (I16)b, 0, (short)-1);
#elif defined(__SSE2__)
  typedef char C16 __attribute__((vector_size(16)));
  return (uint16_t)__builtin_ia32_pmovmskb128(__builtin_convertvector((Line)(a == b), C16));
#else
  uint32_t r = 0;
  for (int i = 0; i < LINE; i++) r |= (uint32_t)(a[i] == b[i]) << i;
  return r;
#endif
}

/* The slots of a line that may have the state with this tag, and those that are empty. */
typedef struct { uint32_t maybe, empty; } Slots;

INLINE Slots look_in(const uint32_t *slots, uint64_t at, uint32_t tag, uint32_t of_number) {
  Line line;
  memcpy(&line, &slots[at], sizeof line);
  const uint32_t empty = alike(line, (Line){0});
  return (Slots){alike(line & ~((Line){0} + of_number), (Line){0} + tag) & ~empty, empty};
}

/* Put all states into a table of this size. */
static int refill(Search *f, uint32_t bits) {
  enum { AHEAD = 16 };
  uint32_t *slots = map(sizeof(uint32_t) << bits);
  if (!slots) return 0;
  uint64_t hashes[AHEAD];
  for (uint64_t n = 0; n < f->count + AHEAD; n++) {
    if (n >= AHEAD) {
      const uint64_t hash = hashes[n % AHEAD];
      uint64_t at = line_at(hash, bits);
      uint32_t empty;
      while (!(empty = look_in(slots, at, 0, 0).empty)) at = line_after(at, bits);
      slots[at + (uint32_t)__builtin_ctz(empty)] = tag_for(hash, bits) | (uint32_t)(n - AHEAD + 1);
    }
    if (n < f->count) {
      hashes[n % AHEAD] = hash_of(&f->states[n]);
      __builtin_prefetch(&slots[line_at(hashes[n % AHEAD], bits)], 1);
    }
  }
  unmap(f->slots, sizeof(uint32_t) << f->bits);
  f->slots = slots, f->bits = bits;
  return 1;
}

/* Room for so many more states in array and table. */
static int room_for(Search *f, uint64_t more) {
  uint32_t bits = f->bits;
  while ((f->count + more) * 10 > 7 * ((uint64_t)1 << bits)) bits++;
  return bits <= 32 && more_states(f, f->count + more) && (bits == f->bits || refill(f, bits));
}

/* What the next growth will take, in bytes more than now: the new table, while the old one is still there. */
uint64_t growth_needs(const Search *f) {
  enum { SOON = 1 << 18 };
  uint64_t needs = 0;
  if (f->count + SOON >= f->room)
    needs += f->room / 2 * (sizeof(State) + sizeof(int32_t) + sizeof(int16_t) + (f->keep ? sizeof(uint64_t) : 0));
  if ((f->count + SOON) * 10 >= 7 * ((uint64_t)1 << f->bits)) needs += sizeof(uint32_t) << (f->bits + 1);
  if (f->keep && f->edges + 16 * SOON >= f->edge_room) needs += f->edge_room / 2 * (sizeof(int32_t) + sizeof(int16_t));
  return needs;
}
