#!/usr/bin/env python3
"""filch-bench-sim-python model WORKERS default [SIZE]: the model of the simulator's fork-join trees, with a heap.

Workers have a deque each. A worker that has no task takes the newest of its own deque, and if that is empty it
looks at one random other worker and takes the oldest there. Node n of fib(n) forks n - 2 into the deque and goes
on with n - 1; nodes below 2 are leaves. Whoever ends the last child of a node goes on with the node. Events are in
the order of time, ends of work before looks, then by worker. One heap holds the next event of each worker.

Prints what the other benchmark programs print: one line of key=value."""

import heapq
import platform
import random
import sys
import time

LEAF, SPAWN, POP, JOIN, FAILED, STEAL = 100, 6, 2, 4, 200, 200  # nanoseconds
END, LOOK = 0, 1
SMALL, SMALL_WORKERS, SEEDS = 12, 16, 200


class Node:
    __slots__ = ("n", "parent", "pending", "forked")

    def __init__(self, n, parent):
        self.n = n
        self.parent = parent
        self.pending = 0
        self.forked = False


def run(n, workers, seed):
    """Makespan, tasks, steals, events."""
    rng = random.Random(seed).random
    replace = heapq.heapreplace
    deques = [[] for _ in range(workers)]
    first = [0] * workers  # of each deque: what is before it was stolen
    current = [None] * workers
    heap = [(0, LOOK, w) for w in range(workers)]
    deques[0].append(Node(n, None))
    tasks = steals = events = 0
    while True:
        now, kind, w = heap[0]
        events += 1
        if kind == END:
            node = current[w]
            if node.n >= 2 and not node.forked:
                node.pending = 2
                node.forked = True
                deques[w].append(Node(node.n - 2, node))
                node = current[w] = Node(node.n - 1, node)
                tasks += 1
                replace(heap, (now + (SPAWN if node.n >= 2 else LEAF), END, w))
                continue
            parent = node.parent
            if parent is None:
                return now, tasks, steals, events
            parent.pending -= 1
            if parent.pending == 0:
                current[w] = parent
                replace(heap, (now + JOIN, END, w))
                continue
        own = deques[w]
        if len(own) > first[w]:
            node = own.pop()
            begin = now + POP
        elif kind == END:
            replace(heap, (now, LOOK, w))
            continue
        else:
            if workers == 1:
                raise SystemExit("one worker has nothing to do")
            victim = int(rng() * (workers - 1))
            victim += victim >= w
            queue, at = deques[victim], first[victim]
            if len(queue) == at:
                replace(heap, (now + FAILED, LOOK, w))
                continue
            node = queue[at]
            queue[at] = None
            first[victim] = at + 1
            if first[victim] == len(queue):
                queue.clear()
                first[victim] = 0
            steals += 1
            begin = now + STEAL
        current[w] = node
        tasks += 1
        replace(heap, (begin + (SPAWN if node.n >= 2 else LEAF), END, w))


def nodes_of(n):
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b + 1
    return b


def main(arguments):
    if len(arguments) not in (3, 4) or arguments[0] != "model" or arguments[2] != "default":
        print("usage: filch-bench-sim-python model WORKERS default [SIZE]", file=sys.stderr)
        return 2
    workers, size = int(arguments[1]), int(arguments[3]) if len(arguments) == 4 else 23
    if workers < 2 or not 2 <= size <= 30:
        print("from 2 workers on, sizes from 2 to 30", file=sys.stderr)
        return 2
    begin = time.perf_counter_ns()
    makespan, tasks, steals, events = run(size, workers, 1)
    ns = time.perf_counter_ns() - begin
    if tasks != nodes_of(size):
        print(f"wrong result: {tasks} tasks, not {nodes_of(size)}", file=sys.stderr)
        return 1
    small = sum(run(SMALL, SMALL_WORKERS, seed)[2] for seed in range(1, SEEDS + 1)) / SEEDS
    print(f"ns_per_op={ns / tasks:.4f} size={size} tasks={tasks} small_steals={small:.3f}"
          f" events_per_s={events * 1e9 / ns:.0f} makespan_ns={makespan} steals={steals}"
          f" runtime_version=Python {platform.python_version()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
