/* Threads that work on a round together. Between two phases of it, one thread is alone.
 *
 * Nobody waits for a helper that has not begun: where other programs keep it from running, the work is done without it.
 */
#include <pthread.h>

#define MOST_THREADS 64
#define SPINS 300        /* looks at what one waits for, before one sleeps */

enum { EXPAND, INSERT, PLACE, LINK, JUDGE };

static void work(Search *f, Worker *w, int phase);

typedef struct {
  Search *f;
  pthread_mutex_t lock;
  pthread_cond_t begun, ended;
  uint64_t turn;        /* counts the phases */
  int phase, open, over;
  uint32_t active, helpers, next_worker, task;
  uint32_t holders;     /* threads that know of this */
} Team;

static inline void rest_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* The next task of the phase. */
static inline uint32_t next_task(Search *f) { return __atomic_fetch_add(&((Team *)f->team)->task, 1, __ATOMIC_RELAXED); }

/* Forget the team, whose lock is held. The last to do so frees it. */
static void leave_team(Team *team) {
  const int last = !--team->holders;
  pthread_mutex_unlock(&team->lock);
  if (!last) return;
  pthread_cond_destroy(&team->begun), pthread_cond_destroy(&team->ended), pthread_mutex_destroy(&team->lock);
  free(team);
}

static void *help(void *given) {
  Team *team = given;
  pthread_mutex_lock(&team->lock);
  const uint32_t me = ++team->next_worker;
  for (uint64_t seen = 0;;) {
    while (team->turn == seen && !team->over) pthread_cond_wait(&team->begun, &team->lock);
    if (team->over) break;
    seen = team->turn;
    if (!team->open) continue;
    team->active++;
    const int phase = team->phase;
    pthread_mutex_unlock(&team->lock);
    work(team->f, &team->f->worker[me], phase);
    pthread_mutex_lock(&team->lock);
    if (!--team->active) pthread_cond_signal(&team->ended);
    pthread_mutex_unlock(&team->lock);
    for (int n = 0; n < SPINS && __atomic_load_n(&team->turn, __ATOMIC_RELAXED) == seen; n++) rest_a_little();
    pthread_mutex_lock(&team->lock);
  }
  leave_team(team);
  return 0;
}

/* Helpers for a while; as many as can be started. Null if there is no memory even for none. */
static Team *assemble(Search *f, uint32_t helpers) {
  Team *team = calloc(1, sizeof(Team));
  if (!team) return 0;
  team->f = f, team->holders = 1;
  pthread_mutex_init(&team->lock, 0), pthread_cond_init(&team->begun, 0), pthread_cond_init(&team->ended, 0);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_mutex_lock(&team->lock);
  for (pthread_t made; team->helpers < helpers && !pthread_create(&made, &detached, help, team);)
    team->helpers++, team->holders++;
  pthread_mutex_unlock(&team->lock);
  pthread_attr_destroy(&detached);
  return f->team = team;
}

/* Do all tasks of a phase; `alone` if they are too few to share. */
static void together(Search *f, int phase, int alone) {
  Team *team = f->team;
  alone |= !team->helpers;
  if (!alone) {
    pthread_mutex_lock(&team->lock);
    team->task = 0, team->phase = phase, team->open = 1;
    __atomic_store_n(&team->turn, team->turn + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
    work(f, &f->worker[0], phase);
    pthread_mutex_lock(&team->lock);
    team->open = 0;
    while (team->active) pthread_cond_wait(&team->ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
  } else {
    team->task = 0;
    work(f, &f->worker[0], phase);
  }
}

static void dismiss(Search *f) {
  Team *team = f->team;
  f->team = 0;
  pthread_mutex_lock(&team->lock);
  team->over = 1;
  pthread_cond_broadcast(&team->begun);
  leave_team(team);
}
