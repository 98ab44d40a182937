// The replay of the run view: a run of tasks at random, and what must hold at every position of it.
'use strict';
const assert = require('assert');
const path = require('path');
const {Replay, describe, timeFormat, FIELDS} = require(path.join(__dirname, '../../tools/sim_replay.js'));
const KINDS = ['SUBMITTED', 'EXECUTING', 'COMPLETED', 'STOLE', 'SPAWNED', 'WAITS', 'RESUMED', 'FAILED', 'PARKED',
    'WOKEN', 'LOCKED_OUT'];

let seed = 1;
function random(n) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor(seed / 65536) % n;
}

// Owners take the newest task, thieves the oldest.
function someRun(workers, tasks) {
    const queue = [], running = [], records = [], names = [];
    const put = (time, kind, worker, other, task) => records.push(time, KINDS.indexOf(kind), worker, other, task);
    for (let w = 0; w < workers; w++) {
        queue.push([]);
        running.push(-1);
    }
    for (let t = 0; t < tasks; t++) {
        names.push('T' + t);
        queue[0].push(t);
        put(0, 'SUBMITTED', 0, -1, t);
    }
    for (let time = 1; queue.some(q => q.length) || running.some(t => t >= 0); time++) {
        const w = random(workers), victim = random(workers);
        if (running[w] >= 0) {
            put(time, 'COMPLETED', w, -1, running[w]);
            running[w] = -1;
        } else if (queue[w].length) {
            running[w] = queue[w].pop();
            put(time, 'EXECUTING', w, -1, running[w]);
        } else if (victim !== w && queue[victim].length) {
            queue[w].push(queue[victim].shift());
            put(time, 'STOLE', w, victim, queue[w][queue[w].length - 1]);
        } else {
            put(time, 'FAILED', w, victim, 0);
        }
    }
    return {workers, names, records, lines: [], spans: []};
}

function noTaskIsLostAtAnyPosition() {
    const tasks = 300, replay = new Replay(someRun(4, tasks));
    for (let p = tasks; p <= replay.n; p++) {
        const state = replay.at(p);
        let sum = 0;
        for (const w of state.worker)
            sum += w.queue.length + w.executed + (w.task >= 0);
        assert.strictEqual(sum, tasks, 'at ' + p);
    }
    assert(replay.n > 1000);
}

function aJumpEndsWhereStepsEnd() {
    const data = someRun(3, 200), replay = new Replay(data), short = {...data};
    for (const p of [0, 1, 199, 200, 201, 400, 555, replay.n]) {
        short.records = data.records.slice(0, p * FIELDS);
        const steps = new Replay(short);
        assert.deepStrictEqual(replay.at(p), steps.at(steps.n), 'at ' + p);
    }
}

function aTimeLeadsToTheLastRecordNotAfterIt() {
    const replay = new Replay({workers: 1, names: ['T'], records: [0, 7, 0, 0, 0, 5, 7, 0, 0, 0, 5, 7, 0, 0, 0, 9, 7, 0, 0, 0]});
    assert.deepStrictEqual([-1, 0, 4, 5, 8, 9, 100].map(t => replay.positionAt(t)), [0, 1, 1, 3, 3, 4, 4]);
    assert.deepStrictEqual([0, 1, 2, 3, 4].map(p => replay.time(p)), [0, 0, 5, 5, 9]);
}

function aTaskThatWaitsMayGoOnElsewhere() {
    const k = name => KINDS.indexOf(name);
    const replay = new Replay({workers: 2, names: ['T', 'T.0'], records: [0, k('EXECUTING'), 0, -1, 0,
        1, k('SPAWNED'), 0, 0, 1, 2, k('WAITS'), 0, -1, 0, 3, k('STOLE'), 1, 0, 1, 4, k('EXECUTING'), 1, -1, 1,
        5, k('COMPLETED'), 1, -1, 1, 6, k('RESUMED'), 1, -1, 0, 7, k('PARKED'), 0, -1, 0, 8, k('WOKEN'), 0, -1, 0]});
    assert.deepStrictEqual(replay.at(3).worker[0].waiting, [0]);
    assert.deepStrictEqual(replay.at(3).worker[0].queue, [1]);
    assert.deepStrictEqual(replay.at(4).worker[1].queue, [1]);
    assert.strictEqual(replay.at(5).worker[1].stolen, true);
    assert.deepStrictEqual(replay.at(7).worker[0].waiting, []);
    assert.strictEqual(replay.at(7).worker[1].task, 0);
    assert.strictEqual(replay.at(8).worker[0].parked, true);
    assert.strictEqual(replay.at(9).worker[0].parked, false);
}

function everyKindHasWords() {
    const data = {names: ['T1']};
    for (let kind = 0; kind < KINDS.length; kind++)
        assert.match(describe(data, {kind, worker: 3, other: 5, task: 0}), /orker 3.|^T1 .* 3$/);
}

function timesAreShort() {
    assert.strictEqual(timeFormat(5.98e9).text(1.41e9), '1.41 s');
    assert.strictEqual(timeFormat(120e9).text(113.3217e9), '113.3 s');
    assert.strictEqual(timeFormat(45e3).text(1234), '1.23 µs');
    assert.strictEqual(timeFormat(90).text(7), '7 ns');
    assert.strictEqual(timeFormat(0).text(0), '0 ns');
}

for (const test of [noTaskIsLostAtAnyPosition, aJumpEndsWhereStepsEnd, aTimeLeadsToTheLastRecordNotAfterIt,
    aTaskThatWaitsMayGoOnElsewhere, everyKindHasWords, timesAreShort]) {
    test();
    console.log('ok ' + test.name);
}
