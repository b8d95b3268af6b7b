/* Breadth-first search over packed states.
 *
 * Every state is stored whole, in the order of discovery; this array is the queue, too. The table holds, in 32 bits a
 * slot, a state's number (from 1) and as much of its hash as there is room for; whether two states are the same is
 * decided by the states. Successors wait in a buffer until their places in the table have come from memory.
 */
#define _GNU_SOURCE /* mremap */
#include "problem.h"
#include "normal.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define WAITING 128   /* successors whose places in the table are being fetched */
#define AHEAD 16

enum { GOES_ON, MOST_STATES, AFTER_VIOLATION, NO_MEMORY };

typedef struct { int64_t source; int32_t depth, instance; } Found;

/* A successor as the rules made it, and its normal form. */
typedef struct { State made, x; uint64_t hash; uint32_t source, instance; } Waiting;

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
  uint64_t *fired, *alone;
  uint32_t watched, watched_steps;  /* witnesses that were not met yet, and those of them that are of a step */
  uint32_t *watch;              /* triples: number, condition, whether of a step */
  uint8_t *met;
  /* room to work in */
  int *s, *t, *u;
  uint64_t *holds, *enabled;
  Waiting *waiting;
  uint32_t waits;
} Search;

uint64_t problem_size(void) { return sizeof(Problem); }
uint64_t search_size(void) { return sizeof(Search); }

/* Puts a packed state into its normal form. */
void normal_form(const Problem *p, State *x) { normal(p, x); }

static inline uint64_t hash_of(const State *x) {
  uint64_t h = 0;
  for (int i = 0; i < WORDS; i++) h = (h ^ x->w[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  return h ^ (h >> 32);
}

/* ------------------------------------------------------------------------------------------------------ the table */
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

static inline uint32_t slot_for(uint64_t hash, uint32_t bits, uint64_t number) {
  return bits == 32 ? (uint32_t)number : (uint32_t)(hash >> 32) << bits | (uint32_t)number;
}

static inline uint64_t number_in(uint32_t slot, uint32_t bits) {
  return bits == 32 ? slot : slot & (((uint32_t)1 << bits) - 1);
}

/* Put all states into a table of this size. */
static int refill(Search *f, uint32_t bits) {
  uint32_t *slots = map(sizeof(uint32_t) << bits);
  if (!slots) return 0;
  const uint64_t last = ((uint64_t)1 << bits) - 1;
  uint64_t hashes[AHEAD];
  for (uint64_t n = 0; n < f->count + AHEAD; n++) {
    if (n >= AHEAD) {
      const uint64_t hash = hashes[n % AHEAD];
      uint64_t at = hash & last;
      while (slots[at]) at = (at + 1) & last;
      slots[at] = slot_for(hash, bits, n - AHEAD + 1);
    }
    if (n < f->count) {
      hashes[n % AHEAD] = hash_of(&f->states[n]);
      __builtin_prefetch(&slots[hashes[n % AHEAD] & last], 1);
    }
  }
  unmap(f->slots, sizeof(uint32_t) << f->bits);
  f->slots = slots, f->bits = bits;
  return 1;
}

static int more_states(Search *f) {
  const uint64_t room = f->room + f->room / 2;
  if (room >= INT32_MAX) return 0;
  if (!grow((void **)&f->states, sizeof(State), f->room, room)) return 0;
  if (!grow((void **)&f->parents, sizeof(int32_t), f->room, room)) return 0;
  if (!grow((void **)&f->via, sizeof(int16_t), f->room, room)) return 0;
  if (f->keep && !grow((void **)&f->first_edge, sizeof(uint64_t), f->room + 1, room + 1)) return 0;
  f->room = room;
  return 1;
}

static int more_edges(Search *f) {
  const uint64_t room = f->edge_room + f->edge_room / 2;
  if (!grow((void **)&f->targets, sizeof(int32_t), f->edge_room, room)) return 0;
  if (!grow((void **)&f->taken, sizeof(int16_t), f->edge_room, room)) return 0;
  f->edge_room = room;
  return 1;
}

/* What the next growth will take, in bytes more than now: the new table, while the old one is still there. */
uint64_t growth_needs(const Search *f) {
  uint64_t needs = 0;
  if (f->count + 65536 >= f->room)
    needs += f->room / 2 * (sizeof(State) + sizeof(int32_t) + sizeof(int16_t) + (f->keep ? sizeof(uint64_t) : 0));
  if ((f->count + 65536) * 10 >= 7 * ((uint64_t)1 << f->bits)) needs += sizeof(uint32_t) << (f->bits + 1);
  if (f->keep && f->edges + 1048576 >= f->edge_room) needs += f->edge_room / 2 * (sizeof(int32_t) + sizeof(int16_t));
  return needs;
}

/* ---------------------------------------------------------------------------------------------------- what is found */
static void violate(Search *f, uint32_t property, int32_t depth, uint64_t source, int32_t instance) {
  if (f->broken_at < 0) f->broken_at = (int64_t)f->count;
  Found *found = &f->found[property];
  if (found->depth < 0) *found = (Found){(int64_t)source, depth, instance};
}

/* Every property of one state that is false in t. */
static void judge(Search *f, const int *t, int32_t depth, uint64_t source, int32_t instance) {
  const Problem *p = f->p;
  for (uint32_t i = 0; i < p->judgements; i++)
    if (!p->conditions[p->judgement[2 * i + 1]](t, t)) violate(f, p->judgement[2 * i], depth, source, instance);
}

static void watch(Search *f, const int *s, const int *t, uint32_t of_step) {
  for (uint32_t i = 0; i < f->watched;) {
    const uint32_t *w = &f->watch[3 * i];
    if (w[2] == of_step && f->p->conditions[w[1]](s, t)) {
      f->met[w[0]] = 1;
      f->watched--, f->watched_steps -= of_step;
      memmove(&f->watch[3 * i], &f->watch[3 * i + 3], 3 * sizeof(uint32_t) * (f->watched - i));
    } else {
      i++;
    }
  }
}

/* A cell left its bounds: what is violated there is recorded, and nothing is explored behind it. */
static void leave(Search *f, const int *t, uint64_t source, int32_t instance) {
  const Problem *p = f->p;
  f->beyond++;
  judge(f, t, f->depth + 1, source, instance);
  for (uint32_t c = 0; c < p->cells; c++)
    if (t[c] < p->low[c] || t[c] > p->high[c]) violate(f, p->properties + p->field[c], f->depth + 1, source, instance);
}

/* ------------------------------------------------------------------------------------------------------- new states */
static void discover(Search *f, const Waiting *w, uint64_t number) {
  const Problem *p = f->p;
  int *const t = f->u;
  if (p->after_first[w->instance] == p->after_first[w->instance + 1] && !f->watched) return;
  p->unpack(w->made.w, t);
  for (uint32_t i = p->after_first[w->instance]; i < p->after_first[w->instance + 1]; i++)
    if (!p->conditions[p->after_item[i]](t, t)) {
      judge(f, t, f->depth + 1, number, -1);
      break;
    }
  if (f->watched) watch(f, t, t, 0);
}

/* The state's number; where it is new, it is stored. Negative if there is no memory. */
static int64_t reach(Search *f, const State *x, uint64_t hash, int32_t parent, int32_t instance, int *new) {
  const uint64_t last = ((uint64_t)1 << f->bits) - 1;
  const uint32_t tag = f->bits == 32 ? 0 : (uint32_t)(hash >> 32) << f->bits;
  const uint32_t tags = f->bits == 32 ? 0 : ~(((uint32_t)1 << f->bits) - 1);
  uint64_t at = hash & last;
  *new = 0;
  for (uint32_t slot; (slot = f->slots[at]); at = (at + 1) & last) {
    if ((slot & tags) != tag) continue;
    const uint64_t number = number_in(slot, f->bits) - 1;
    if (equal(&f->states[number], x)) return (int64_t)number;
  }
  if (f->count == f->room && !more_states(f)) return -1;
  const uint64_t number = f->count;
  f->states[number] = *x, f->parents[number] = parent, f->via[number] = (int16_t)instance;
  f->slots[at] = slot_for(hash, f->bits, number + 1);
  f->count++;
  *new = 1;
  if (f->count * 10 > 7 * (last + 1) && (f->bits == 32 || !refill(f, f->bits + 1))) return -1;
  return (int64_t)number;
}

static int flush(Search *f) {
  const uint64_t last = ((uint64_t)1 << f->bits) - 1;
  for (uint32_t i = 0; i < f->waits; i++) {
    const uint32_t slot = f->slots[f->waiting[i].hash & last];
    if (slot) __builtin_prefetch(&f->states[number_in(slot, f->bits) - 1]);
  }
  for (uint32_t i = 0; i < f->waits; i++) {
    const Waiting *w = &f->waiting[i];
    int new;
    const int64_t number = reach(f, &w->x, w->hash, (int32_t)w->source, (int32_t)w->instance, &new);
    if (number < 0) return f->stopped = NO_MEMORY;
    if (new) discover(f, w, (uint64_t)number);
    if (f->keep) {
      if (f->edges == f->edge_room && !more_edges(f)) return f->stopped = NO_MEMORY;
      f->targets[f->edges] = (int32_t)number, f->taken[f->edges++] = (int16_t)w->instance;
    }
  }
  f->waits = 0;
  return GOES_ON;
}

/* ------------------------------------------------------------------------------------------------------- expanding */
static inline void forget(Search *f, uint32_t k, State *x) {
  const Problem *p = f->p;
  for (uint32_t i = p->forget_first[k]; i < p->forget_first[k + 1]; i++) {
    const uint32_t g = p->forget_item[i];
    if (p->conditions[p->unless[g]](f->t, f->t)) continue;
    for (uint32_t j = p->gone_first[g]; j < p->gone_first[g + 1]; j++) {
      const uint32_t c = p->gone_item[j];
      if (f->t[c] == p->initial[c]) continue;
      x->w[p->word[c]] ^= (uint64_t)((f->t[c] - p->low[c]) ^ (p->initial[c] - p->low[c])) << p->shift[c];
      f->t[c] = p->initial[c];
    }
  }
}

/* The waiting successor is made: find its normal form, and have its place in the table fetched. */
static inline void wait_for(Search *f, Waiting *w, uint64_t source, uint32_t k) {
  w->x = w->made, w->source = (uint32_t)source, w->instance = k;
  normal(f->p, &w->x);
  w->hash = hash_of(&w->x);
  __builtin_prefetch(&f->slots[w->hash & (((uint64_t)1 << f->bits) - 1)], 1);
  f->waits++;
}

/* Take an enabled instance of which there is something to say. f->t is a copy of f->s before and after. */
static void take_slowly(Search *f, uint64_t source, const State *now, uint32_t k) {
  const Problem *p = f->p;
  const int *s = f->s;
  int *const t = f->t;
  Waiting *w = &f->waiting[f->waits];
  int out = 0;
  w->made = *now;
  for (uint32_t i = p->effect_first[k]; i < p->effect_first[k + 1]; i++)
    out |= p->effects[p->effect_item[i]](s, t, w->made.w);
  for (uint32_t i = p->step_first[k]; i < p->step_first[k + 1]; i++)
    if (!p->conditions[p->step_item[2 * i + 1]](s, t))
      violate(f, p->step_item[2 * i], f->depth + 1, source, (int32_t)k);
  if (out) {
    leave(f, t, source, (int32_t)k);
  } else {
    forget(f, k, &w->made);
    if (f->watched_steps) watch(f, s, t, 1);
    wait_for(f, w, source, k);
  }
  for (uint32_t i = p->write_first[k]; i < p->write_first[k + 1]; i++) t[p->write_item[i]] = s[p->write_item[i]];
}

static inline void take(Search *f, uint64_t source, const State *now, uint32_t k) {
  const Fire fire = f->p->fires[k];
  Waiting *w = &f->waiting[f->waits];
  f->transitions++, f->fired[f->p->rule[k]]++;
  if (fire && !f->watched_steps) {
    w->made = *now;
    if (!fire(f->s, w->made.w)) {
      wait_for(f, w, source, k);
      return;
    }
  }
  take_slowly(f, source, now, k);
}

/* An instance of which exactly one guard is false: counted by instance and guard. */
static inline void count_alone(Search *f, uint32_t k) {
  const Problem *p = f->p;
  const uint64_t *needs = p->needs + (size_t)k * GUARD_WORDS;
  uint32_t at = 0;
  for (uint32_t g = 0; g < GUARD_WORDS; g++) {
    const uint64_t missing = needs[g] & ~f->holds[g];
    at += (64 * g + (uint32_t)__builtin_ctzll(missing | (uint64_t)1 << 63)) & -(uint32_t)(missing != 0);
  }
  f->alone[(size_t)k * p->guards + at]++;
}

/* Which instances of a word are enabled, from the guards that are false; those that only one guard stops are counted. */
static inline uint64_t enabled(Search *f, uint32_t word) {
  const Problem *p = f->p;
  const uint32_t last = p->instances - 64 * word;
  const uint64_t all = last >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << last) - 1;
  uint64_t once = 0, again = 0;
  for (uint32_t g = 0; g < GUARD_WORDS; g++)
    for (uint64_t false_ = ~f->holds[g]; false_; false_ &= false_ - 1) {
      const uint64_t used = p->used[(64 * g + (uint32_t)__builtin_ctzll(false_)) * INSTANCE_WORDS + word];
      again |= once & used, once |= used;
    }
  for (uint64_t sole = once & ~again; sole; sole &= sole - 1) count_alone(f, 64 * word + (uint32_t)__builtin_ctzll(sole));
  return all & ~once;
}

static void at_rest(Search *f, uint64_t source) {
  const Problem *p = f->p;
  for (uint32_t i = 0; i < p->rests; i++) {
    const uint64_t *held = p->held + (size_t)i * INSTANCE_WORDS;
    uint64_t moves = 0;
    for (uint32_t word = 0; word < INSTANCE_WORDS; word++) moves |= f->enabled[word] & held[word];
    if (!moves && f->found[p->rest[2 * i]].depth < 0 && !p->conditions[p->rest[2 * i + 1]](f->s, f->s))
      violate(f, p->rest[2 * i], f->depth, source, -1);
  }
}

static void expand(Search *f, uint64_t source) {
  const Problem *p = f->p;
  const State now = f->states[source];
  const uint64_t before = f->waits;
  p->unpack(now.w, f->s);
  memcpy(f->t, f->s, p->cells * sizeof(int));
  p->holds(f->s, f->holds);
  for (uint32_t word = 0; word < INSTANCE_WORDS; word++) {
    f->enabled[word] = enabled(f, word);
    for (uint64_t left = f->enabled[word]; left; left &= left - 1)
      take(f, source, &now, 64 * word + (uint32_t)__builtin_ctzll(left));
  }
  if (f->keep) f->first_edge[source + 1] = f->first_edge[source] + (f->waits - before);
  if (p->rests) at_rest(f, source);
}

/* Look for dead ends among the states that are not expanded: the last level that a bound on the depth allows. Nothing of
   it is counted. */
int dead_ends(Search *f) {
  const Problem *p = f->p;
  uint64_t *counted = f->alone;
  if (!p->rests) return GOES_ON;
  f->alone = calloc((size_t)p->guards * p->instances + 1, sizeof(uint64_t));
  if (!f->alone) return f->alone = counted, NO_MEMORY;
  for (uint64_t source = f->done; source < f->count; source++) {
    p->unpack(f->states[source].w, f->s);
    p->holds(f->s, f->holds);
    for (uint32_t word = 0; word < INSTANCE_WORDS; word++) f->enabled[word] = enabled(f, word);
    at_rest(f, source);
  }
  free(f->alone);
  f->alone = counted;
  return GOES_ON;
}

/* Expand states up to before `end`, at most `quota` of them. */
int advance(Search *f, uint64_t end, uint64_t quota) {
  const uint64_t stop = end - f->done < quota ? end : f->done + quota;
  while (f->done < stop) {
    if (f->waits >= WAITING && flush(f)) return f->stopped;
    if (f->waits && ((f->most && f->count + f->waits >= f->most) || (f->more && f->broken_at >= 0)) && flush(f))
      return f->stopped;
    if (f->more && f->broken_at >= 0 && f->count >= (uint64_t)f->broken_at + f->more - 1)
      return f->stopped = AFTER_VIOLATION;
    if (f->most && f->count >= f->most) return f->stopped = MOST_STATES;
    expand(f, f->done++);
  }
  return flush(f);
}

/* --------------------------------------------------------------------------------------------- beginning and ending */
/* Room for a search; `f` comes with problem, bounds, found, watch and met. */
int begin(Search *f) {
  const Problem *p = f->p;
  const uint32_t most = WAITING + p->instances;
  f->room = 1 << 12, f->edge_room = 1 << 14, f->broken_at = -1;
  f->states = map(f->room * sizeof(State));
  f->parents = map(f->room * sizeof(int32_t));
  f->via = map(f->room * sizeof(int16_t));
  if (f->keep) {
    f->first_edge = map((f->room + 1) * sizeof(uint64_t));
    f->targets = map(f->edge_room * sizeof(int32_t));
    f->taken = map(f->edge_room * sizeof(int16_t));
    if (!f->first_edge || !f->targets || !f->taken) return NO_MEMORY;
  }
  f->s = malloc(p->cells * sizeof(int));
  f->t = malloc(p->cells * sizeof(int));
  f->u = malloc(p->cells * sizeof(int));
  f->holds = calloc(GUARD_WORDS, sizeof(uint64_t));
  f->enabled = calloc(INSTANCE_WORDS, sizeof(uint64_t));
  f->waiting = malloc(most * sizeof(Waiting));
  f->bits = 13;
  f->slots = map(sizeof(uint32_t) << f->bits);
  if (!f->states || !f->parents || !f->via || !f->waiting || !f->slots) return NO_MEMORY;
  if (!f->s || !f->t || !f->u || !f->holds || !f->enabled) return NO_MEMORY;
  State x = {{0}};
  for (uint32_t c = 0; c < p->cells; c++)
    if (p->high[c] > p->low[c]) x.w[p->word[c]] |= (uint64_t)(p->initial[c] - p->low[c]) << p->shift[c];
  normal(p, &x);
  int new;
  if (reach(f, &x, hash_of(&x), -1, -1, &new) < 0) return NO_MEMORY;
  p->unpack(f->states[0].w, f->s);
  judge(f, f->s, 0, 0, -1);
  watch(f, f->s, f->s, 0);
  return GOES_ON;
}

void finish(Search *f) {
  unmap(f->states, f->room * sizeof(State)), unmap(f->parents, f->room * sizeof(int32_t));
  unmap(f->via, f->room * sizeof(int16_t)), unmap(f->first_edge, (f->room + 1) * sizeof(uint64_t));
  unmap(f->targets, f->edge_room * sizeof(int32_t)), unmap(f->taken, f->edge_room * sizeof(int16_t));
  free(f->s), free(f->t), free(f->u), free(f->holds), free(f->enabled), free(f->waiting);
  unmap(f->slots, sizeof(uint32_t) << f->bits);
  f->states = 0, f->slots = 0;
}

/* The first state from which none that satisfies the condition can be reached without the instances `apart`; -1 if
 * there is none, -2 if there is no memory. The graph must be complete. */
int64_t lost(Search *f, uint32_t condition, const uint8_t *apart) {
  const uint64_t n = f->count;
  int64_t first = -2;
  uint64_t *start = calloc(n + 2, sizeof(uint64_t));
  uint32_t *todo = malloc((n + 1) * sizeof(uint32_t)), *sources = 0;
  uint8_t *home = calloc(n + 1, 1);
  if (!start || !todo || !home) goto out;
  for (uint64_t e = 0; e < f->edges; e++)
    if (!apart[f->taken[e]]) start[f->targets[e] + 2]++;
  for (uint64_t i = 2; i < n + 2; i++) start[i] += start[i - 1];
  sources = malloc((start[n + 1] + 1) * sizeof(uint32_t));
  if (!sources) goto out;
  for (uint64_t s = 0; s < n; s++)
    for (uint64_t e = f->first_edge[s]; e < f->first_edge[s + 1]; e++)
      if (!apart[f->taken[e]]) sources[start[f->targets[e] + 1]++] = (uint32_t)s;
  uint64_t left = 0;
  for (uint64_t s = 0; s < n; s++) {
    f->p->unpack(f->states[s].w, f->s);
    if (f->p->conditions[condition](f->s, f->s)) home[s] = 1, todo[left++] = (uint32_t)s;
  }
  while (left) {
    const uint32_t target = todo[--left];
    for (uint64_t e = start[target]; e < start[target + 1]; e++)
      if (!home[sources[e]]) home[sources[e]] = 1, todo[left++] = sources[e];
  }
  first = -1;
  for (uint64_t s = 0; s < n && first < 0; s++)
    if (!home[s]) first = (int64_t)s;
out:
  free(start), free(todo), free(sources), free(home);
  return first;
}
