/* Breadth-first search over packed states, in rounds.
 *
 * A round takes some of the states of a level, in their order. Threads expand them in chunks; then each takes parts of the
 * table and looks the successors up there; then chunk by chunk the new ones get their numbers. What comes of it depends
 * neither on how many threads there are nor on which was faster: within a part of the table the successors come in order,
 * and numbers are given in the order of states and instances.
 */
#include "search.h"
#include "step.h"
#include "team.h"

uint64_t problem_size(void) { return sizeof(Problem); }
uint64_t search_size(void) { return sizeof(Search); }

/* Puts a packed state into its normal form, as it is done for successors. */
void normal_form(const Problem *p, State *x) {
  Entry e[EIGHT];
  for (int i = 0; i < EIGHT; i++) e[i].x = *x;
  form(p, e);
  *x = e[0].x;
}

/* ---------------------------------------------------------------------------------------------- phases of a round */
/* Finds the entry's state in the table, or puts it there under a number of this round, from `count` on; 1 if it does. */
static int look_up(Search *f, Entry *e, uint32_t number, uint32_t of_number) {
  const uint32_t tag = tag_for(e->hash, f->bits);
  for (uint64_t at = line_at(e->hash, f->bits);; at = line_after(at, f->bits)) {
    const Slots found = look_in(f->slots, at, tag, of_number);
    for (uint32_t left = found.maybe; left; left &= left - 1) {
      const uint32_t known = (f->slots[at + (uint32_t)__builtin_ctz(left)] & of_number) - 1;
      if (equal(&f->states[known], &e->x)) return e->number = known, 0;
    }
    if (found.empty) {
      at += (uint32_t)__builtin_ctz(found.empty);
      f->slots[at] = tag | (number + 1);
      f->states[number] = e->x;
      e->number = number, e->is = IS_NEW, e->hash = at;
      return 1;
    }
  }
}

/* All entries of a part of the table, some at a time: entry, line and state are fetched from memory before they are
 * needed. Without a branch a line names a state that is likely the same; where it names none, the first state of all. */
static void insert(Search *f, uint32_t part) {
  enum { SOME = 32 };
  Entry **const todo = f->todo + f->todo_first[part];
  const State *const states = f->states;
  const uint32_t *const slots = f->slots;
  const uint32_t bits = f->bits, of_number = numbers(bits), first_number = (uint32_t)(f->count + f->todo_first[part]);
  const uint64_t n = f->todo_first[part + 1] - f->todo_first[part];
  uint32_t likely[SOME], ends[CHUNKS], in = 0;
  uint64_t m = 0;
  for (uint32_t i = 0; i < f->chunks; i++) {
    Chunk *c = &f->chunk[i];
    for (uint32_t j = c->part[part]; j < c->part[part + 1]; j++) todo[m++] = &c->entry[c->order[j]];
    c->fresh[part] = 0, ends[i] = (uint32_t)m;
  }
  for (uint64_t from = 0; from < n + 2 * SOME; from += SOME) {
    for (uint64_t i = from; i < from + SOME && i < n; i++) __builtin_prefetch(todo[i], 1);
    if (from < SOME) continue;
    for (uint64_t i = from - SOME; i < from && i < n; i++) __builtin_prefetch(&slots[line_at(todo[i]->hash, bits)], 1);
    if (from < 2 * SOME) continue;
    const uint64_t first = from - 2 * SOME, end = first + SOME < n ? first + SOME : n;
    for (uint64_t i = first; i < end; i++) {
      const uint64_t hash = todo[i]->hash, at = line_at(hash, bits);
      const uint32_t maybe = look_in(slots, at, tag_for(hash, bits), of_number).maybe;
      const uint32_t slot = slots[at + ((uint32_t)__builtin_ctz(maybe | 1 << 31) & (LINE - 1))];
      likely[i - first] = ((slot & of_number) - 1) & -(uint32_t)(maybe != 0);
      __builtin_prefetch(&states[likely[i - first]]);
    }
    for (uint64_t i = first; i < end; i++) {
      Entry *e = todo[i];
      e->number = likely[i - first];
      if (equal(&states[e->number], &e->x) || !look_up(f, e, first_number + (uint32_t)i, of_number)) continue;
      while (i >= ends[in]) in++;
      f->chunk[in].fresh[part]++;
    }
  }
}

/* The new states of a chunk, in order. */
static void place(Search *f, Chunk *c) {
  const uint32_t of_number = numbers(f->bits);
  uint32_t number = c->new_number;
  for (uint32_t n = 0; n < c->entries; n++) {
    Entry *e = &c->entry[n];
    if (e->is != IS_NEW) continue;
    f->states[number] = e->x;
    f->parents[number] = (int32_t)(c->source + e->lane), f->via[number] = (int16_t)e->instance;
    f->slots[e->hash] = (f->slots[e->hash] & ~of_number) | (number + 1);
    e->number = number++;
  }
}

/* The edges of a chunk. */
static void link(Search *f, Chunk *c, uint64_t before) {
  uint64_t edge = c->edge;
  for (uint32_t i = 0; i < c->states; i++) {
    for (uint32_t n = c->first[i]; n < c->first[i + 1]; n++) {
      const Entry *e = &c->entry[n];
      if (e->is == IS_OUT) continue;
      const int provisional = e->is == IS_KNOWN && e->number >= before;
      f->targets[edge] = (int32_t)(provisional ? f->todo[e->number - before]->number : e->number);
      f->taken[edge++] = (int16_t)e->instance;
    }
    f->first_edge[c->source + i + 1] = edge;
  }
}

static void work(Search *f, Worker *w, int phase) {
  for (uint32_t i; (i = next_task(f)), 1;) {
    if (phase == INSERT ? i >= PARTS : phase == JUDGE ? f->judged + (uint64_t)i * LANES >= f->count : i >= f->chunks) return;
    switch (phase) {
      case EXPAND: expand(f, w, &f->chunk[i]); break;
      case INSERT: insert(f, i); break;
      case PLACE: place(f, &f->chunk[i]); break;
      case LINK: link(f, &f->chunk[i], f->judged); break;
      case JUDGE: {
        const uint64_t from = f->judged + (uint64_t)i * LANES, left = f->count - from;
        look_at(f, w, from, left < LANES ? (uint32_t)left : LANES, f->depth + 1);
      }
    }
  }
}

/* ------------------------------------------------------------------------------------------------ between the phases */
/* Where the entries of each part begin; how many there are in all. */
static uint64_t divide(Search *f) {
  uint64_t total = 0;
  for (int q = 0; q < PARTS; q++) {
    f->todo_first[q] = total;
    for (uint32_t i = 0; i < f->chunks; i++) total += f->chunk[i].part[q + 1] - f->chunk[i].part[q];
  }
  return f->todo_first[PARTS] = total;
}

static int room_for_todo(Search *f, uint64_t total) {
  if (total <= f->todo_room) return 1;
  free(f->todo);
  f->todo_room = total + total / 2;
  f->todo = malloc(f->todo_room * sizeof(Entry *));
  return f->todo != 0;
}

/* What the threads found becomes what the search found. */
static void settle(Search *f) {
  const Problem *p = f->p;
  const uint32_t all = p->properties + p->fields;
  int broken = 0;
  for (uint32_t t = 0; t < f->threads; t++)
    for (uint32_t n = 0; n < all; n++) {
      Found *new = &f->worker[t].found[n], *known = &f->found[n];
      if (new->depth < 0) continue;
      broken = 1;
      if (known->depth < 0 || (known->depth == new->depth && new->source < known->source) ||
          (known->depth == new->depth && new->source == known->source && new->instance < known->instance))
        *known = *new;
      new->depth = -1;
    }
  if (broken && f->broken_at < 0) f->broken_at = (int64_t)f->count;
  for (uint32_t i = 0; i < f->watched;) {
    uint32_t *w = &f->watch[3 * i];
    if (!f->met[w[0]]) {
      i++;
      continue;
    }
    f->watched--, f->watched_steps -= w[2];
    memmove(w, w + 3, 3 * sizeof(uint32_t) * (f->watched - i));
  }
}

/* Add up what the threads counted. */
static void add_up(Search *f) {
  const Problem *p = f->p;
  const uint32_t needs = p->need_first[p->instances];
  for (uint32_t t = 0; t < f->threads; t++) {
    Worker *w = &f->worker[t];
    for (uint32_t n = 0; n < p->rules; n++) f->fired[n] += w->fired[n], w->fired[n] = 0;
    for (uint32_t n = 0; n < needs; n++) f->alone[n] += w->alone[n], w->alone[n] = 0;
    f->transitions += w->transitions, f->beyond += w->beyond;
    w->transitions = w->beyond = 0;
  }
}

/* Expand `states` more states. */
static int take_round(Search *f, uint32_t states) {
  const uint64_t before = f->count;
  f->chunks = 0;
  for (uint32_t at = 0; at < states; at += LANES) {
    Chunk *c = &f->chunk[f->chunks++];
    c->source = f->done + at, c->states = states - at < LANES ? states - at : LANES;
  }
  const int alone = f->chunks < 8;
  together(f, EXPAND, alone);
  const uint64_t total = divide(f);
  if (f->stopped || !room_for_todo(f, total) || !room_for(f, total)) return f->stopped = NO_MEMORY;
  if (f->keep && !more_edges(f, f->edges + total)) return f->stopped = NO_MEMORY;
  together(f, INSERT, alone);
  uint64_t number = f->count;
  for (uint32_t i = 0; i < f->chunks; i++) {
    Chunk *c = &f->chunk[i];
    c->new_number = (uint32_t)number, c->edge = f->edges, f->edges += f->keep ? c->part[PARTS] : 0;
    for (int q = 0; q < PARTS; q++) number += c->fresh[q];
  }
  together(f, PLACE, alone);
  f->judged = before;
  if (f->keep) together(f, LINK, alone);
  f->count = number, f->done += states;
  if (f->p->judgements || f->watched > f->watched_steps) together(f, JUDGE, alone);
  settle(f);
  return GOES_ON;
}

/* How many states a round may take, so that no bound is passed by more than one state's successors; 0 and `stopped` if
 * one is met. After a violation it is passed by few. */
static uint64_t within_bounds(Search *f) {
  const uint64_t each = f->p->instances ? f->p->instances : 1;
  uint64_t states = (uint64_t)CHUNKS * LANES;
  if (f->more && f->broken_at >= 0) {
    const uint64_t last = (uint64_t)f->broken_at + f->more - 1;
    if (f->count >= last) return f->stopped = AFTER_VIOLATION, 0;
    if (states > last - f->count) states = last - f->count;
  }
  if (f->most) {
    if (f->count >= f->most) return f->stopped = MOST_STATES, 0;
    if (states > (f->most - f->count + each - 1) / each) states = (f->most - f->count + each - 1) / each;
  }
  return states;
}

/* Expand states up to before `end`, at most `quota` of them. */
int advance(Search *f, uint64_t end, uint64_t quota) {
  const uint64_t stop = end - f->done < quota ? end : f->done + quota;
  if (!assemble(f, stop - f->done >= 8 * LANES ? f->threads - 1 : 0)) return f->stopped = NO_MEMORY;
  while (f->done < stop && !f->stopped) {
    uint64_t states = within_bounds(f);
    if (states > stop - f->done) states = stop - f->done;
    if (states) take_round(f, (uint32_t)states);
  }
  dismiss(f);
  add_up(f);
  return f->stopped;
}

/* Look for dead ends among the states that are not expanded: the last level that a bound on the depth allows. Nothing of
   it is counted. */
int dead_ends(Search *f) {
  const Problem *p = f->p;
  Worker *w = &f->worker[0];
  if (!p->rests) return GOES_ON;
  for (uint64_t source = f->done; source < f->count; source += LANES) {
    const uint64_t left = f->count - source, lanes = first_lanes(left < LANES ? (uint32_t)left : LANES);
    p->spread(&f->states[source], w->s);
    p->holds(w->s, w->guard);
    choose(p, w, lanes);
    at_rest(f, w, source, lanes);
  }
  memset(w->alone, 0, p->need_first[p->instances] * sizeof(uint64_t));
  settle(f);
  return GOES_ON;
}

/* --------------------------------------------------------------------------------------------- beginning and ending */
static void *lanes(uint32_t cells) {
  void *made = 0;
  return posix_memalign(&made, sizeof(V), (cells + 1) * sizeof(V)) ? 0 : memset(made, 0, (cells + 1) * sizeof(V));
}

static int equip(const Problem *p, Worker *w) {
  w->s = lanes(p->cells), w->t = lanes(p->cells);
  w->guard = calloc(p->guards + 1, sizeof(uint64_t)), w->on = calloc(p->instances + 1, sizeof(uint64_t));
  w->found = calloc(p->properties + p->fields + 1, sizeof(Found));
  w->fired = calloc(p->rules + 1, sizeof(uint64_t));
  w->alone = calloc(p->need_first[p->instances] + 1, sizeof(uint64_t));
  if (!w->s || !w->t || !w->guard || !w->on || !w->found || !w->fired || !w->alone) return 0;
  for (uint32_t n = 0; n < p->properties + p->fields; n++) w->found[n].depth = -1;
  return 1;
}

/* Room for a search; `f` comes with problem, bounds, found, watch, met and the number of threads. */
int begin(Search *f) {
  const Problem *p = f->p;
  f->room = 1 << 12, f->edge_room = 1 << 14, f->broken_at = -1;
  if (f->threads > MOST_THREADS) f->threads = MOST_THREADS;
  f->states = map((f->room + BEYOND) * sizeof(State));
  f->parents = map(f->room * sizeof(int32_t));
  f->via = map(f->room * sizeof(int16_t));
  if (f->keep) {
    f->first_edge = map((f->room + 1) * sizeof(uint64_t));
    f->targets = map(f->edge_room * sizeof(int32_t));
    f->taken = map(f->edge_room * sizeof(int16_t));
    if (!f->first_edge || !f->targets || !f->taken) return NO_MEMORY;
  }
  f->chunk = calloc(CHUNKS, sizeof(Chunk));
  f->worker = calloc(f->threads, sizeof(Worker));
  f->bits = 13;
  f->slots = map(sizeof(uint32_t) << f->bits);
  if (!f->states || !f->parents || !f->via || !f->chunk || !f->worker || !f->slots) return NO_MEMORY;
  for (uint32_t n = 0; n < f->threads; n++)
    if (!equip(p, &f->worker[n])) return NO_MEMORY;
  State x = {{0}};
  for (uint32_t c = 0; c < p->cells; c++)
    if (p->high[c] > p->low[c]) x.w[p->word[c]] |= (uint64_t)(p->initial[c] - p->low[c]) << p->shift[c];
  normal_form(p, &x);
  const uint64_t hash = hash_of(&x);
  f->states[0] = x, f->parents[0] = -1, f->via[0] = -1, f->count = 1;
  f->slots[line_at(hash, f->bits)] = tag_for(hash, f->bits) | 1;
  look_at(f, &f->worker[0], 0, 1, 0);
  settle(f);
  return GOES_ON;
}

void finish(Search *f) {
  unmap(f->states, (f->room + BEYOND) * sizeof(State)), unmap(f->parents, f->room * sizeof(int32_t));
  unmap(f->via, f->room * sizeof(int16_t)), unmap(f->first_edge, (f->room + 1) * sizeof(uint64_t));
  unmap(f->targets, f->edge_room * sizeof(int32_t)), unmap(f->taken, f->edge_room * sizeof(int16_t));
  for (uint32_t n = 0; f->worker && n < f->threads; n++) {
    Worker *w = &f->worker[n];
    free(w->s), free(w->t), free(w->guard), free(w->on), free(w->found), free(w->fired), free(w->alone);
  }
  for (uint32_t n = 0; f->chunk && n < CHUNKS; n++) free(f->chunk[n].entry), free(f->chunk[n].order);
  free(f->worker), free(f->chunk), free(f->todo);
  unmap(f->slots, sizeof(uint32_t) << f->bits);
  f->states = 0, f->slots = 0;
}

/* ---------------------------------------------------------------------------------------------------- the way home */
/* The first state from which none that satisfies the condition can be reached without the instances `apart`; -1 if
 * there is none, -2 if there is no memory. The graph must be complete. */
int64_t lost(Search *f, uint32_t condition, const uint8_t *apart) {
  const uint64_t n = f->count;
  int64_t first = -2;
  uint64_t *start = calloc(n + 2, sizeof(uint64_t));
  uint32_t *todo = malloc((n + 1) * sizeof(uint32_t)), *sources = 0;
  uint8_t *home = calloc(n + 1, 1);
  V *cells = f->worker[0].s;
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
  for (uint64_t s = 0; s < n; s += LANES) {
    f->p->spread(&f->states[s], cells);
    uint64_t at = f->p->conditions[condition](cells, cells) & first_lanes(n - s < LANES ? (uint32_t)(n - s) : LANES);
    for (; at; at &= at - 1) home[s + lane_of(at)] = 1, todo[left++] = (uint32_t)(s + lane_of(at));
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
