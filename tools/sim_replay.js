// sim_replay.js: the state of a run at any position, from its records. Position p: the first p records have
// happened. It needs no document: node runs it as well.
'use strict';
const simReplay = (function () {
    const SUBMITTED = 0, EXECUTING = 1, COMPLETED = 2, STOLE = 3, SPAWNED = 4, WAITS = 5, RESUMED = 6,
        FAILED = 7, PARKED = 8, WOKEN = 9, LOCKED_OUT = 10; // enum page_kind
    const FIELDS = 5; // of a record: time, kind, worker, other, task
    const SNAPSHOT_EVERY = 200;

    function stateInit(workers) {
        const worker = [];
        for (let i = 0; i < workers; i++)
            worker.push({queue: [], task: -1, stolen: false, waiting: [], parked: false, executed: 0,
                steals: 0});
        return {worker, moved: new Set()};
    }

    function stateCopy(state) {
        const worker = state.worker.map(w => ({...w, queue: w.queue.slice(), waiting: w.waiting.slice()}));
        return {worker, moved: new Set(state.moved)};
    }

    function removeAt(array, at) {
        if (at >= 0)
            array.splice(at, 1);
    }

    function begin(state, w, task) {
        w.task = task;
        w.stolen = state.moved.has(task);
        w.parked = false;
    }

    function stateApply(state, kind, worker, other, task) {
        const w = state.worker[worker];
        switch (kind) {
        case SUBMITTED:
        case SPAWNED:
            w.queue.push(task);
            break;
        case EXECUTING:
            removeAt(w.queue, w.queue.lastIndexOf(task));
            begin(state, w, task);
            break;
        case COMPLETED:
            w.executed++;
            w.task = -1;
            break;
        case STOLE: {
            const from = state.worker[other].queue;
            removeAt(from, from.indexOf(task));
            w.queue.push(task);
            w.steals++;
            w.parked = false;
            state.moved.add(task);
            break;
        }
        case WAITS:
            w.waiting.push(task);
            w.task = -1;
            break;
        case RESUMED:
            for (const each of state.worker)
                removeAt(each.waiting, each.waiting.lastIndexOf(task));
            begin(state, w, task);
            break;
        case PARKED:
            w.parked = true;
            break;
        case WOKEN:
            w.parked = false;
            break;
        }
    }

    class Replay {
        constructor(data) {
            this.data = data;
            this.n = data.records.length / FIELDS;
            this.snapshots = [];
            const state = stateInit(data.workers);
            for (let i = 0; i <= this.n; i++) {
                if (i % SNAPSHOT_EVERY === 0)
                    this.snapshots.push(stateCopy(state));
                if (i < this.n)
                    this.apply(state, i);
            }
        }

        apply(state, i) {
            const r = this.data.records, k = i * FIELDS;
            stateApply(state, r[k + 1], r[k + 2], r[k + 3], r[k + 4]);
        }

        at(position) {
            const number = Math.floor(position / SNAPSHOT_EVERY);
            const state = stateCopy(this.snapshots[number]);
            for (let i = number * SNAPSHOT_EVERY; i < position; i++)
                this.apply(state, i);
            return state;
        }

        // Of the record that happened last before `position`; null at the start.
        record(position) {
            const r = this.data.records, k = (position - 1) * FIELDS;
            if (position < 1)
                return null;
            return {time: r[k], kind: r[k + 1], worker: r[k + 2], other: r[k + 3], task: r[k + 4]};
        }

        time(position) {
            return this.n ? this.data.records[Math.max(position - 1, 0) * FIELDS] : 0;
        }

        // The last position at which no more than `time` has passed.
        positionAt(time) {
            let low = 0, high = this.n;
            while (low < high) {
                const middle = (low + high + 1) >> 1;
                if (this.data.records[(middle - 1) * FIELDS] <= time)
                    low = middle;
                else
                    high = middle - 1;
            }
            return low;
        }
    }

    function describe(data, r) {
        const worker = 'Worker ' + r.worker, task = data.names[r.task];
        switch (r.kind) {
        case SUBMITTED: return task + ' is put into the queue of worker ' + r.worker;
        case EXECUTING: return worker + ': executes ' + task;
        case COMPLETED: return worker + ': completed ' + task;
        case STOLE: return worker + ': stole ' + task + ' from worker ' + r.other;
        case SPAWNED: return worker + ': spawned ' + task;
        case WAITS: return worker + ': ' + task + ' waits for its children';
        case RESUMED: return worker + ': resumes ' + task;
        case FAILED: return worker + ': found nothing';
        case PARKED: return worker + ': parks';
        case WOKEN: return worker + ': was woken';
        case LOCKED_OUT: return worker + ': met another worker at the queue of worker ' + r.other;
        }
        return worker;
    }

    // Formats nanoseconds in the unit that keeps the numbers of a run short.
    function timeFormat(total) {
        const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
        const [size, name] = units.find(u => total >= u[0]) || units[3];
        const digits = Math.max(0, Math.min(3, 4 - Math.ceil(Math.log10(Math.max(total, 1) / size + 1))));
        const number = t => String(Number((t / size).toFixed(size === 1 ? 0 : digits)));
        return {size, name, number, text: t => number(t) + ' ' + name};
    }

    return {SUBMITTED, STOLE, SPAWNED, FIELDS, Replay, describe, timeFormat};
})();

if (typeof module === 'object')
    module.exports = simReplay;
