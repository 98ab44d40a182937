/* cases.h: the cases of `filch bench tasks`, one definition for every runtime.
 *
 * The programs: tasks/ (filch, C), peers/go (Go, standard library), peers/tokio (Rust, Tokio's
 * multi-threaded scheduler), epoll/ (C, HTTP only: threads and epoll, no scheduler at all). Each is
 * called with CASE WORKERS MODE [SIZE] and prints one line of key=value, ns_per_op first. Each makes
 * its runtime with that number of workers (Go: GOMAXPROCS) once, and runs the case five times, or
 * fewer if a second is over, but at least twice, the first time being cold; the smallest figure
 * counts. Timers and HTTP run once. What a case needs before its clock starts (the runtime, channels,
 * parked tasks) is not timed, except where it says so. "A task" is a fiber, a goroutine, or a spawned
 * future; the code that drives a case is itself a task. Results are counted or summed up and checked.
 *
 *   spawn       One task spawns SIZE tasks that do nothing but tell a wait group that they are done,
 *               and waits for all. Time / SIZE. Tokio has no wait group: a counter, and a Notify
 *               that the last task fires.
 *   spawn_join  One task spawns a task, waits for its result, adds it up; SIZE times. Time / SIZE.
 *               Join handles; Go has none: a channel, made once.
 *   skynet      A tree of tasks, 10 children each, SIZE leaves (a power of 10): a leaf's result is
 *               its number, a parent's the sum of its children's. Time / SIZE (with 10^6 leaves
 *               that is also the time in ms). Join handles; Go: the original program, a channel per
 *               parent that its children send to.
 *   yield       Two tasks yield SIZE times each, on one worker. Time / (2 SIZE).
 *   pingpong    Two tasks and two unbuffered channels: one sends and then receives, the other
 *               receives and then sends, SIZE times. Time / SIZE: a round trip. On one worker and on
 *               two. Tokio has no unbuffered channels: mpsc of capacity 1.
 *   chan_1_1    One task sends SIZE numbers of 64 bits through a channel of 128, one receives them.
 *               Time / SIZE.
 *   chan_4_4    Four tasks send SIZE numbers in all, four receive them, the same channel. Time /
 *               SIZE. Tokio's mpsc has one receiver: four send, one receives.
 *   mutex       Eight tasks add 1 to one counter SIZE times in all, each time under the mutex. Time /
 *               SIZE. The runtime's own mutex: it suspends the task (Tokio: tokio::sync::Mutex).
 *   wake        SIZE tasks wait, each for something of its own (filch: an event, Go: a channel,
 *               Tokio: a oneshot). When all do, one task wakes them one after the other, and waits
 *               until all have run. Time from the first wake-up to the last end / SIZE.
 *   timer_p50   SIZE tasks sleep until deadlines that are 10 us apart (100,000: over one second), in
 *   timer_p99   scattered order; the first is due 4 us x SIZE after the first spawn, when all sleep.
 *   timer_cpu   How late they run, in ns: median and 99th percentile. timer_cpu: CPU time of the
 *               process (getrusage, user + system, from before the first spawn to the end) / SIZE.
 *               Mode `async` (filch): poll functions instead of tasks, which is what Tokio's are.
 *   latency_in  A task spawns a task every 20 us, SIZE times, and does not let go of its worker in
 *               between (it reads the clock). From before the spawn to the first instruction of the
 *               new task, median in ns.
 *   latency_out The same from a thread that the runtime did not make. In Go that is a thread of C,
 *               which calls Go to spawn (cgo).
 *   http_cpu_64, http_cpu_1000
 *               A server that answers each request on a keep-alive connection with 13 bytes of
 *               text, a task per connection (epoll: a state per connection), under
 *               `wrk -t1 -c64` or `-c1000` on loopback for SIZE seconds. It finds the end of a
 *               request's head and looks at nothing else. CPU time of the server process (getrusage,
 *               user + system) / requests answered.
 */
#ifndef CASES_H
#define CASES_H

#include "tasks_bench.h"

#define REPEAT_MIN 2
#define REPEAT_MAX 5
#define REPEAT_BUDGET_NS 1000000000

#define CASE_PRODUCERS 4
#define CASE_CHANNEL 128
#define CASE_LOCKERS 8
#define CASE_TIMER_STEP_NS 10000
#define CASE_TIMER_LEAD_NS 4000
#define CASE_TIMER_SCATTER 7919 /* prime: i * 7919 modulo SIZE meets every number once */
#define CASE_LATENCY_GAP_NS 20000

static const struct tasks_case cases[] = {
    {"spawn", 1000000, spawn_many, REPEAT_MAX, false},
    {"spawn_join", 1000000, spawn_join, REPEAT_MAX, false},
    {"skynet", 1000000, spawn_skynet, REPEAT_MAX, false},
    {"yield", 1000000, yield_two, REPEAT_MAX, false},
    {"pingpong", 500000, chan_pingpong, REPEAT_MAX, false},
    {"chan_1_1", 2000000, chan_one, REPEAT_MAX, false},
    {"chan_4_4", 2000000, chan_four, REPEAT_MAX, false},
    {"mutex", 2000000, mutex_eight, REPEAT_MAX, false},
    {"wake", 100000, wake_all, REPEAT_MAX, false},
    {"timer_p50", 100000, timer_p50, 1, true},
    {"timer_p99", 100000, timer_p99, 1, true},
    {"timer_cpu", 100000, timer_cpu, 1, true},
    {"latency_in", 10000, latency_in, REPEAT_MAX, false},
    {"latency_out", 10000, latency_out, REPEAT_MAX, false},
    {"http_cpu_64", 3, http_cpu_64, 1, false},
    {"http_cpu_1000", 3, http_cpu_1000, 1, false},
};

#endif
