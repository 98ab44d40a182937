/* sim_scenarios.c: the table of scenarios. */
#include "sim.h"

const struct sim_scenario sim_scenarios[] = {
    {"basic", "3 workers, 10 tasks at random workers", "workers=3 tasks=10 duration=uniform:0.5..2 until=20",
     "Document 003, its first run: all tasks are submitted at time 0, each to a random worker. A\n"
     "worker takes the newest of its own queue; one without tasks looks at all others in random order and\n"
     "takes the oldest of the first that has any, or waits for 0.1 s.", SIM_LOG_BASIC, 0, 0, sim_run_plain},
    {"arrivals", "4 workers, a task every 0.5 s",
     "workers=4 tasks=5 arrive=gaps gap=0.5 first=now duration=uniform:1..3 until=30",
     "Document 003, tasks that arrive over time: the run with spawning workers, in which no task happens to\n"
     "spawn.", SIM_LOG_SPAWNING, 0, 0, sim_run_plain},
    /* children, adaptive victims, task sizes */
    {"spawning", "tasks that spawn children, against parents that do their work",
     "load=spawning workers=4 tasks=5 arrive=gaps gap=0.5 first=now duration=uniform:1..3 "
     "until=30 spawn=0.3 children=1..3 child=uniform:0.3..1",
     "Document 003, nested spawning: half-way through its work a task spawns children with a probability\n"
     "of 0.3, into the queue of its worker, and goes on. Children spawn as well. The document says that it\n"
     "helps to balance the load. Paired runs of the same tasks judge that: with inline=on a parent does the\n"
     "work of its children.", SIM_LOG_SPAWNING, 2000, 0, sim_run_spawning},
    {"adaptive", "the largest queue first, against a random order",
     "workers=4 arrive=bursts burst=0:0:12,0:1:1,0:2:2 duration=uniform:0.5..2 victim=largest",
     "Document 003, load balancing strategies: 12, 1, 2 and 0 tasks lie in the queues of four workers, and\n"
     "thieves try the largest queue first. The document says that this leads to better load balancing.\n"
     "Paired runs judge that against victims in random order, on this load and on several of it side by\n"
     "side.", SIM_LOG_ADAPTIVE, 2000, 0, sim_run_adaptive},
    {"granularity", "the same work in small and in large tasks",
     "workers=4 tasks=500 duration=0.1 look=1",
     "Document 003, task granularity: 50 s of work on 4 workers in tasks of 0.1, 0.5 and 2 s, tasks= of\n"
     "duration= and 5 and 20 times as large. An observer looks once a second (look=) whether all is done.\n"
     "Then each task has a cost: exec=, or 10 ms, and the size of the tasks is varied.",
     SIM_LOG_BASIC, 2000, 0, sim_run_granularity},
    {"joining", "parents that wait for their children, in three ways",
     "load=joining workers=4 tasks=5 arrive=gaps gap=0.5 first=now duration=uniform:1..3 "
     "until=30 spawn=0.4 children=1..3 child=uniform:0.3..0.8 join=block seed=28",
     "Document 003, parent-child join: half-way through its work a task spawns children with a probability\n"
     "of 0.4 and waits until they have ended. The document's worker blocks meanwhile; it says itself that\n"
     "the parent should be suspended. The third way is a worker that helps: it runs other tasks meanwhile,\n"
     "on top of the parent.", SIM_LOG_JOINING, 2000, 0, sim_run_joining},

    /* back-off, livelock, bursts, number of workers */
    {"livelock", "all idle, in step, all failing; and what ends it",
     "workers=4 tasks=5 place=0 duration=1 collisions=on wait=0.1 backoff=0.05..0.5 backoff_factor=2 "
     "backoff_jitter=50 cycle_attempts=2 probe=1ms",
     "Document 003, preventing livelock: accesses to one queue in one instant all fail, also the owner's.\n"
     "All tasks lie at worker 0, and all workers look at it in one instant, again and again.\n"
     "backoff_jitter=, cycle_attempts= and probe= hold for those ways whose names have them.", SIM_LOG_FULL,
     50, 0, sim_run_livelock},
    {"backoff", "a wait that doubles while searches fail, against a fixed one",
     "wait=0.1 backoff=0.05..0.5 backoff_factor=2",
     "Document 003, exercise 4, on the loads of basic and of arrivals: after a search in vain a worker\n"
     "waits for 0.05 s, after the next one twice as long, 0.5 s at most, and for 0.05 s again once it has\n"
     "found a task. Against it: always 0.1 s. Idle time counts until the last task ends. Settings hold for\n"
     "both loads.",
     SIM_LOG_BASIC, 1000, 0, sim_run_backoff},
    {"bursts", "tasks in bursts: the longest queue first against random ones",
     "workers=4 arrive=bursts burst=0:0:12,5:1:12 duration=uniform:1..3",
     "Document 003, exercise 5: 12 tasks arrive at worker 0 at time 0, and 12 at worker 1 at 5 s; then with\n"
     "24 in the first burst, so that more of them still wait at 5 s, and with the second one at 15 s, when\n"
     "none does. The longest queue first against all others in random order, run by run with the same\n"
     "tasks.", SIM_LOG_ADAPTIVE, 1000, 0, sim_run_bursts},
    {"workers", "20 tasks on 2 to 8 workers, and from where more do not help",
     "tasks=20 duration=uniform:0.5..2",
     "Document 003, exercise 1: the load of basic with 20 tasks, each at a random worker. A worker more\n"
     "helps as long as it adds at least 0.5 to the speed-up.", SIM_LOG_BASIC, 1000, 0, sim_run_workers},

    /* queues and their locks */
    {"central", "one locked queue against deques, and where it bends",
     "workers=1024 tasks=2048 load=closed duration=exp:20us lock=exp:100ns probe=100ns victim=random "
     "idle=yield",
     "A closed system on 1 to `workers=` workers: every task that ends submits its successor. Each\n"
     "operation on a queue holds its lock, first come first served. With one queue for all, the lock is the\n"
     "limit; with a deque per worker, successors go to random workers, and a thief pays for every look.",
     SIM_LOG_FULL, 5, 0, sim_run_central},
    {"ends", "owner and thief at opposite ends, or at the same",
     "workers=16 load=tree tree=fib:20 leaf=exp:1us tasks=20000 duration=exp:200ns queue=locked lock=50ns "
     "own_end=on probe=50ns failed=50ns steal_near=100ns victim=one idle=yield",
     "Document 003, the asymmetry of its deque: \"owners and thieves don't compete for the same task unless\n"
     "the queue is almost empty\". With a lock for each end of a queue, and with one for both: an owner of\n"
     "`tasks=` tasks and one thief; a fork-join tree on all workers.", SIM_LOG_FULL, 20, 0, sim_run_ends},
    {"parking", "workers that park, and which of them a task wakes",
     "workers=10000 tasks=1000000 arrive=gaps gap=exp:125ns duration=exp:1ms victim=one spin=2 idle=park "
     "wake=target",
     "Tasks arrive at random workers, 80 % of what these can do. A worker without tasks looks at one random\n"
     "queue, at a second one, and parks. Runs the same tasks with wake=target, random and one: which tasks\n"
     "are left in the queues of sleeping workers?", SIM_LOG_FULL, 0, 0, sim_run_parking},

    /* trees, comparisons, sweeps, theory */
    {"tree", "a fork-join tree on 1, 2, 4, ... workers",
     "load=tree tree=fib:25 leaf=20ns before=10ns after=10ns workers=256 victim=one idle=yield "
     "spawn_cost=5ns pop=5ns failed=100ns steal_near=200ns steal_far=200ns",
     "Speed-up of a fork-join tree over the number of workers, with T1 (its time on one worker), Tinf (its\n"
     "longest path) and the c of T_P = T1/P + c Tinf; steals over P Tinf. tree= chooses fib, balanced,\n"
     "spine, random, uts, utsbin or loop. With random single steals (victim=one steal=one idle=yield,\n"
     "probes that take time) the exact engine runs it: its time grows with steals, not with tasks.",
     SIM_LOG_FULL, 10, 0, sim_run_tree},
    {"compare", "variants of a setup, with the same random numbers",
     "load=tree tree=fib:15 leaf=1us before=1us after=1us exec=1us workers=16 victim=one idle=yield "
     "failed=1us steal_near=1us steal_far=1us",
     "filch sim compare VARIANT VARIANT... [metric=NAME] [--workload SCENARIO]: each variant against the\n"
     "first, run by run with the same tasks and seeds. A variant is a value of victim=, or pairs such as\n"
     "steal=half or steal=half,spin=2, or `base`. The first two arguments are variants, and so is each\n"
     "other one that has no = or begins with a key that a variant begins with; the rest are settings of\n"
     "all.\n"
     "Without --workload: a small fork-join tree on 16 workers.", SIM_LOG_FULL, 40, 16, sim_run_compare},

    {"sweep", "a figure over any settings",
     "workers=4 tasks=100 duration=exp:1 failed=1ms idle=yield",
     "filch sim sweep KEY=VALUES... [metric=NAME,...] [--workload SCENARIO]: every combination of the\n"
     "values, each with the same seeds. VALUES are one,half,all or 2..8 or 0..100+25 or 1..1024*2 (doubled)\n"
     "or times, 1us..1ms*10; where values have commas, semicolons separate them. The plot has a line for\n"
     "each combination of the settings behind the first. Without --workload: 100 exponential tasks on 4\n"
     "workers.", SIM_LOG_FULL, 20, SIM_WORDS, sim_run_sweep},
    {"verify", "laws, two engines, and queues whose means are known", "",
     "Checks the simulator: T1 on one worker, bounds by work and span, the most steals that a tree allows,\n"
     "the exact engine against the event engine, what is conserved, Little's law, and the mean time in the\n"
     "system of M/M/1, M/M/c and M/G/1 queues. Status 1 if any check fails.", SIM_LOG_FULL, 200, 0,
     sim_run_verify},
    {"run", "any setup, with a full log", "", "One run of whatever the pairs say.", SIM_LOG_FULL, 0, 0,
     sim_run_plain},
    {NULL, NULL, NULL, NULL, SIM_LOG_FULL, 0, 0, NULL},
};
