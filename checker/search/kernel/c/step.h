/* Steps: which instances are enabled in LANES states, where they lead, and what is violated or met on the way. */

/* The first of a level in the order of states, and then of instances, whichever thread found it first. */
static void violate(Worker *w, uint32_t property, int32_t depth, uint64_t source, int32_t instance) {
  Found *found = &w->found[property];
  if (found->depth < 0 || (int64_t)source < found->source || ((int64_t)source == found->source && instance < found->instance))
    *found = (Found){(int64_t)source, depth, instance};
}

static inline uint64_t first_lanes(uint32_t states) { return states >= (uint32_t)LANES ? ALL_LANES : ((uint64_t)1 << states) - 1; }

static inline uint32_t lane_of(uint64_t lanes) { return (uint32_t)__builtin_ctzll(lanes); }

/* Every property of one state that is false in t, in some of these lanes. */
static void judge(Search *f, Worker *w, const V *t, uint64_t lanes, int32_t depth, uint64_t source, int32_t instance) {
  const Problem *p = f->p;
  for (uint32_t i = 0; i < p->judgements; i++) {
    const uint32_t property = p->judgement[2 * i];
    if (f->found[property].depth >= 0) continue;
    const uint64_t false_ = ~p->conditions[p->judgement[2 * i + 1]](t, t) & lanes;
    if (false_) violate(w, property, depth, source + lane_of(false_), instance);
  }
}

/* Witnesses that are met in some of these lanes. */
static void watch(Search *f, const V *s, const V *t, uint64_t lanes, uint32_t of_step) {
  for (uint32_t i = 0; i < f->watched; i++) {
    const uint32_t *watched = &f->watch[3 * i];
    if (watched[2] == of_step && !__atomic_load_n(&f->met[watched[0]], __ATOMIC_RELAXED) &&
        (f->p->conditions[watched[1]](s, t) & lanes))
      __atomic_store_n(&f->met[watched[0]], 1, __ATOMIC_RELAXED);
  }
}

/* Judge states that were found in this round. */
static void look_at(Search *f, Worker *w, uint64_t source, uint32_t states, int32_t depth) {
  f->p->spread(&f->states[source], w->s);
  judge(f, w, w->s, first_lanes(states), depth, source, -1);
  if (f->watched > f->watched_steps) watch(f, w->s, w->s, first_lanes(states), 0);
}

/* ---------------------------------------------------------------------------------------------- what is enabled */
/* Fills `on` and counts where an instance is kept from firing by one guard alone. */
static void choose(const Problem *p, Worker *w, uint64_t lanes) {
  for (uint32_t k = 0; k < p->instances; k++) {
    uint64_t once = 0, again = 0;
    for (uint32_t i = p->need_first[k]; i < p->need_first[k + 1]; i++) {
      const uint64_t false_ = ~w->guard[p->need_item[i]];
      again |= once & false_, once |= false_;
    }
    const uint64_t sole = once & ~again & lanes;
    w->on[k] = lanes & ~once;
    if (sole)
      for (uint32_t i = p->need_first[k]; i < p->need_first[k + 1]; i++)
        w->alone[i] += (uint64_t)__builtin_popcountll(sole & ~w->guard[p->need_item[i]]);
  }
}

static void at_rest(Search *f, Worker *w, uint64_t source, uint64_t lanes) {
  const Problem *p = f->p;
  for (uint32_t r = 0; r < p->rests; r++) {
    const uint8_t *held = p->held + (size_t)r * p->instances;
    const uint32_t property = p->rest[2 * r];
    uint64_t moves = 0;
    if (f->found[property].depth >= 0) continue;
    for (uint32_t k = 0; k < p->instances; k++) moves |= held[k] ? w->on[k] : 0;
    const uint64_t still = lanes & ~moves;
    const uint64_t bad = still ? still & ~p->conditions[p->rest[2 * r + 1]](w->s, w->s) : 0;
    if (bad) violate(w, property, f->depth, source + lane_of(bad), -1);
  }
}

/* ---------------------------------------------------------------------------------- a step of which there is more to say */
/* Cells left their bounds in these lanes: what is violated there is recorded, and nothing is explored behind it. */
static void leave(Search *f, Worker *w, uint64_t lanes, uint64_t source, uint32_t k) {
  const Problem *p = f->p;
  w->beyond += (uint64_t)__builtin_popcountll(lanes);
  judge(f, w, w->t, lanes, f->depth + 1, source, (int32_t)k);
  for (uint32_t c = 0; c < p->cells; c++) {
    const uint32_t property = p->properties + p->field[c];
    if (f->found[property].depth >= 0) continue;
    for (uint64_t left = lanes; left; left &= left - 1) {
      const uint32_t i = lane_of(left);
      if (w->t[c][i] < p->low[c] || w->t[c][i] > p->high[c]) {
        violate(w, property, f->depth + 1, source + i, (int32_t)k);
        break;
      }
    }
  }
}

static void forget(const Problem *p, Worker *w, uint32_t k) {
  for (uint32_t i = p->forget_first[k]; i < p->forget_first[k + 1]; i++) {
    const uint32_t g = p->forget_item[i];
    const uint64_t gone = ~p->conditions[p->unless[g]](w->t, w->t) & ALL_LANES;
    for (uint32_t j = p->gone_first[g]; j < p->gone_first[g + 1]; j++)
      for (uint64_t left = gone; left; left &= left - 1) w->t[p->gone_item[j]][lane_of(left)] = (LANE)p->initial[p->gone_item[j]];
  }
}

/* Take the step from w->s to w->t, and record what is violated and met in the lanes `on`; those in which a bound is left. */
static uint64_t retrace(Search *f, Worker *w, uint64_t on, uint64_t source, uint32_t k) {
  const Problem *p = f->p;
  uint64_t out = 0;
  if (!w->copied) memcpy(w->t, w->s, p->cells * sizeof(V)), w->copied = 1;
  for (uint32_t i = p->effect_first[k]; i < p->effect_first[k + 1]; i++) out |= p->effects[p->effect_item[i]](w->s, w->t);
  for (uint32_t i = p->step_first[k]; i < p->step_first[k + 1]; i++) {
    const uint32_t property = p->step_item[2 * i];
    if (f->found[property].depth >= 0) continue;
    const uint64_t false_ = ~p->conditions[p->step_item[2 * i + 1]](w->s, w->t) & on;
    if (false_) violate(w, property, f->depth + 1, source + lane_of(false_), (int32_t)k);
  }
  if (out & on) leave(f, w, out & on, source, k);
  forget(p, w, k);
  if (f->watched_steps && (on & ~out)) watch(f, w->s, w->t, on & ~out, 1);
  return out & on;
}

/* w->t as w->s again. */
static void back(const Problem *p, Worker *w, uint32_t k) {
  for (uint32_t i = p->write_first[k]; i < p->write_first[k + 1]; i++) w->t[p->write_item[i]] = w->s[p->write_item[i]];
}

/* ------------------------------------------------------------------------------------------------------ expanding */
/* The steps of an instance by its effects, where there is no function that takes them at once. */
static void pack(const Problem *p, const Worker *w, const State *x, uint64_t on, uint32_t k, Entry *out, uint32_t *next) {
  for (uint64_t left = on; left; left &= left - 1) {
    const uint32_t i = lane_of(left);
    Entry *e = &out[next[i]++];
    e->x = x[i], e->instance = (uint16_t)k, e->lane = (uint8_t)i, e->is = IS_KNOWN;
    for (uint32_t n = p->write_first[k]; n < p->write_first[k + 1]; n++) {
      const uint32_t c = p->write_item[n];
      if (p->low[c] == p->high[c]) continue; /* it takes no bits */
      const int32_t before = w->s[c][i] - p->low[c], after = w->t[c][i] - p->low[c];
      e->x.w[p->word[c]] ^= (uint64_t)(uint32_t)(before ^ after) << p->shift[c];
    }
  }
}

static void take(Search *f, Worker *w, Chunk *c, uint32_t k, uint32_t *next) {
  const Problem *p = f->p;
  const State *x = &f->states[c->source];
  const uint64_t on = w->on[k];
  uint64_t look = on, out = 0;
  if (p->fires) {
    look = p->fires[k](w->s, x, on, c->entry, next);
    if (f->watched_steps) look = on;
  }
  if (look) out = retrace(f, w, look, c->source, k);
  if (!p->fires) pack(p, w, x, on, k, c->entry, next);
  if (look) back(p, w, k);
  for (uint64_t left = out; left; left &= left - 1) c->entry[next[lane_of(left)] - 1].is = IS_OUT;
}

static int more_entries(Chunk *c, uint32_t needed) {
  if (needed <= c->room) return 1;
  const uint32_t room = needed + needed / 2;
  free(c->entry), free(c->order);
  c->entry = calloc(room + EIGHT, sizeof(Entry)), c->order = malloc(room * sizeof(uint32_t));
  c->room = c->entry && c->order ? room : 0;
  return c->room != 0;
}

/* Normal forms and hashes of eight entries, which are there even where they mean nothing. */
INLINE void form(const Problem *p, Entry *e) {
  Q x[WORDS], alike = ~(Q){0}, h = {0};
  for (int n = 0; n < WORDS; n++)
    for (int i = 0; i < EIGHT; i++) x[n][i] = e[i].x.w[n];
  if (by_eight(p)) alike = normal_eight(p, x);
  for (int i = 0; i < EIGHT; i++) {
    if (!alike[i]) continue;
    normal(p, &e[i].x);
    for (int n = 0; n < WORDS; n++) x[n][i] = e[i].x.w[n];
  }
  for (int n = 0; n < WORDS; n++) h = (h ^ x[n]) * 0x9E3779B97F4A7C15u, h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u, h ^= h >> 32;
  for (int i = 0; i < EIGHT; i++) {
    for (int n = 0; n < WORDS; n++) e[i].x.w[n] = x[n][i];
    e[i].hash = h[i];
  }
}

/* Normal forms and hashes, and which entries belong in which part of the table. */
static void sort_out(const Problem *p, Chunk *c) {
  uint32_t size[PARTS] = {0}, at[PARTS];
  if (p->outers || p->columns > 1)
    for (uint32_t n = 0; n < c->entries; n += EIGHT) form(p, &c->entry[n]);
  else
    for (uint32_t n = 0; n < c->entries; n++) c->entry[n].hash = hash_of(&c->entry[n].x);
  for (uint32_t n = 0; n < c->entries; n++) size[part_of(c->entry[n].hash)] += c->entry[n].is != IS_OUT;
  c->part[0] = 0;
  for (int q = 0; q < PARTS; q++) at[q] = c->part[q], c->part[q + 1] = c->part[q] + size[q];
  for (uint32_t n = 0; n < c->entries; n++)
    if (c->entry[n].is != IS_OUT) c->order[at[part_of(c->entry[n].hash)]++] = n;
}

static void expand(Search *f, Worker *w, Chunk *c) {
  const Problem *p = f->p;
  const uint64_t lanes = first_lanes(c->states);
  uint32_t next[LANES] = {0};
  p->spread(&f->states[c->source], w->s);
  p->holds(w->s, w->guard);
  w->copied = 0;
  choose(p, w, lanes);
  for (uint32_t k = 0; k < p->instances; k++) {
    const uint64_t on = w->on[k];
    if (!on) continue;
    w->fired[p->rule[k]] += (uint64_t)__builtin_popcountll(on);
    for (uint64_t left = on; left; left &= left - 1) next[lane_of(left)]++;
  }
  c->entries = 0;
  for (int i = 0; i < LANES; i++) {
    const uint32_t here = next[i];
    c->first[i] = next[i] = c->entries, c->entries += here;
  }
  c->first[LANES] = c->entries, w->transitions += c->entries;
  if (!more_entries(c, c->entries)) {
    c->entries = 0, f->stopped = NO_MEMORY;
    return;
  }
  for (uint32_t k = 0; k < p->instances; k++)
    if (w->on[k]) take(f, w, c, k, next);
  if (p->rests) at_rest(f, w, c->source, lanes);
  sort_out(p, c);
}
