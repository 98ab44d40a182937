// sim_page.js: the run view. Every <section class="run"> holds the records of a run as JSON (sim_page.c); this builds
// the controls, the queues, the Gantt chart and the log from it. Position p: the first p records have happened.
'use strict';
(function () {
    const SUBMITTED = 0, EXECUTING = 1, COMPLETED = 2, STOLE = 3, SPAWNED = 4, WAITS = 5, RESUMED = 6, FAILED = 7,
        PARKED = 8, WOKEN = 9, LOCKED_OUT = 10;
    const FIELDS = 5; // of a record: time, kind, worker, other, task; of a span: worker, from, to, activity, label
    const SNAPSHOT_EVERY = 200;
    const ACTIVITIES = ['executes', 'executes a stolen task', 'is parked', 'its task waits for children'];

    // ---- replay: no document needed -------------------------------------------------------------------------

    function stateInit(workers) {
        const worker = [];
        for (let i = 0; i < workers; i++)
            worker.push({queue: [], task: -1, stolen: false, waiting: [], parked: false, executed: 0, steals: 0});
        return {worker, moved: new Set()};
    }

    function stateCopy(state) {
        return {
            worker: state.worker.map(w => Object.assign({}, w, {queue: w.queue.slice(), waiting: w.waiting.slice()})),
            moved: new Set(state.moved)
        };
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
            return position > 0 ? this.data.records[(position - 1) * FIELDS] : this.n ? this.data.records[0] : 0;
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

    if (typeof module === 'object') {
        module.exports = {Replay, describe, timeFormat};
        return;
    }

    // ---- document -------------------------------------------------------------------------------------------

    const NS = 'http://www.w3.org/2000/svg';

    function element(tag, attributes, ...children) {
        const e = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes || {}))
            if (name === 'class')
                e.className = value;
            else
                e.setAttribute(name, value);
        e.append(...children);
        return e;
    }

    function svg(tag, attributes) {
        const e = document.createElementNS(NS, tag);
        for (const [name, value] of Object.entries(attributes))
            e.setAttribute(name, value);
        return e;
    }

    function niceStep(raw) {
        const power = Math.pow(10, Math.floor(Math.log10(raw))), part = raw / power;
        return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    }

    // ---- queues ---------------------------------------------------------------------------------------------

    class Queues {
        constructor(data) {
            this.data = data;
            this.node = element('div', {class: 'run-workers'});
            this.rows = [];
            for (let i = 0; i < data.workers; i++)
                this.rows.push(this.row(i));
            this.arrow = svg('svg', {class: 'run-arrow', 'aria-hidden': 'true'});
            this.node.append(this.arrow);
        }

        row(i) {
            const row = {
                node: element('div', {class: 'run-worker', role: 'group', 'aria-label': 'Worker ' + i}),
                counts: element('small'), task: element('div', {class: 'run-task'}),
                label: element('span'), bar: element('div', {class: 'run-bar'}),
                queue: element('div', {class: 'run-queue'})
            };
            row.task.append(row.label, row.bar);
            row.node.append(element('div', {class: 'run-name'}, 'Worker ' + i, row.counts), row.task, row.queue);
            this.node.append(row.node);
            return row;
        }

        showTask(row, w, progress) {
            const waits = w.waiting.map(t => this.data.names[t]).join(', ');
            const idle = w.task < 0 && !waits;
            row.task.className = 'run-task' + (idle ? ' is-idle' : '') + (w.task < 0 && waits ? ' is-waiting' : '')
                + (w.task >= 0 && w.stolen ? ' is-stolen' : '');
            let text = idle ? w.parked ? 'parked' : 'idle' : w.task < 0 ? waits + ' waits' : this.data.names[w.task];
            if (w.task >= 0 && w.stolen)
                text += ' (stolen)';
            if (w.task >= 0 && waits)
                text += ' (' + waits + ' waits)';
            row.label.textContent = text;
            row.task.title = idle ? '' : text;
            row.bar.style.width = w.task < 0 ? '0' : (100 * progress).toFixed(1) + '%';
        }

        // How many boxes of the two ends of a queue have room, about.
        endsThatFit(row, queue) {
            let room = row.queue.clientWidth - 190, k = 0;
            const width = task => 16 + 7.5 * this.data.names[task].length;
            for (; 2 * k < queue.length; k++) {
                room -= width(queue[k]) + width(queue[queue.length - 1 - k]);
                if (room < 0)
                    break;
            }
            return Math.max(k, 1);
        }

        // Of a long queue both ends.
        showQueue(row, queue, fresh) {
            const ends = this.endsThatFit(row, queue);
            const parts = [];
            const box = task => element('span', {class: 'run-box' + (task === fresh ? ' is-new' : '')},
                this.data.names[task]);
            const end = text => element('span', {class: 'end'}, text);
            if (queue.length <= 2 * ends)
                parts.push(...queue.map(box));
            else
                parts.push(...queue.slice(0, ends).map(box), end('… ' + (queue.length - 2 * ends) + ' …'),
                    ...queue.slice(queue.length - ends).map(box));
            if (queue.length)
                row.queue.replaceChildren(end('oldest'), ...parts, end('newest'));
            else
                row.queue.replaceChildren(end('queue is empty'));
        }

        show(state, record, progressOf) {
            state.worker.forEach((w, i) => {
                const row = this.rows[i], mine = record && record.worker === i;
                const victim = record && record.kind === STOLE && record.other === i;
                const pushed = mine && (record.kind === SUBMITTED || record.kind === SPAWNED || record.kind === STOLE);
                row.node.className = 'run-worker' + (mine ? ' is-now' : '') + (victim ? ' is-victim' : '');
                row.counts.textContent = w.executed + ' run, ' + w.steals + ' stolen';
                this.showTask(row, w, progressOf(i));
                this.showQueue(row, w.queue, pushed ? record.task : -1);
            });
            this.showArrow(record);
        }

        showArrow(record) {
            this.arrow.replaceChildren();
            if (!record || record.kind !== STOLE || record.other === record.worker)
                return;
            const base = this.node.getBoundingClientRect();
            const place = i => {
                const r = this.rows[i].queue.getBoundingClientRect();
                return {x: r.left - base.left - 5, y: (r.top + r.bottom) / 2 - base.top};
            };
            const from = place(record.other), to = place(record.worker), out = from.x - 22;
            this.arrow.append(svg('path', {
                d: `M${from.x} ${from.y}C${out} ${from.y} ${out} ${to.y} ${to.x} ${to.y}m-8 -5l8 5l-8 5`
            }));
        }
    }

    // ---- Gantt chart ----------------------------------------------------------------------------------------

    const ROW = 24, AXIS = 24, HEIGHTS = [0.8, 0.8, 0.2, 0.8];

    class Gantt {
        constructor(view, data) {
            this.view = view;
            this.data = data;
            this.zoom = 1;
            this.position = 0;
            this.node = element('canvas', {class: 'run-gantt', role: 'img',
                'aria-label': 'Gantt chart: what each worker does over time'});
            this.node.style.height = data.workers * ROW + AXIS + 'px';
            const r = data.records;
            this.first = r.length ? r[0] : 0;
            this.last = r.length ? Math.max(r[r.length - FIELDS], this.first + 1) : 1;
            this.node.addEventListener('click', event => view.go(view.replay.positionAt(this.timeAt(event.offsetX))));
        }

        legend() {
            const list = element('ul', {class: 'run-legend'}), used = new Set();
            for (let i = 3; i < this.data.spans.length; i += FIELDS)
                used.add(this.data.spans[i]);
            const colours = ['var(--run)', 'var(--run-stolen)', 'var(--run-park)', 'var(--run-wait)'];
            ACTIVITIES.forEach((text, i) => {
                const sample = element('span', {class: 'run-sample'});
                sample.style.height = HEIGHTS[i] * 14 + 'px';
                sample.style[i === 3 ? 'border' : 'background'] = i === 3 ? '1px solid ' + colours[i] : colours[i];
                if (i === 1)
                    sample.style.background = 'repeating-linear-gradient(115deg,' + colours[1] + ' 0 6px,transparent 6px 7px)';
                if (used.has(i))
                    list.append(element('li', {}, sample, text));
            });
            return list;
        }

        range() {
            const length = (this.last - this.first) / this.zoom, now = this.view.replay.time(this.position);
            const from = Math.max(this.first, Math.min(now - length / 2, this.last - length));
            return [from, from + length];
        }

        left() {
            return this.node.clientWidth > 480 ? 74 : 26;
        }

        timeAt(x) {
            const [from, to] = this.range(), left = this.left();
            return from + Math.max(0, Math.min(1, (x - left) / (this.node.clientWidth - left - 1))) * (to - from);
        }

        draw() {
            const width = this.node.clientWidth, height = this.data.workers * ROW + AXIS;
            const dots = window.devicePixelRatio || 1;
            this.node.width = width * dots;
            this.node.height = height * dots;
            const c = this.node.getContext('2d'), css = getComputedStyle(this.node);
            const colour = name => css.getPropertyValue(name).trim();
            const [from, to] = this.range(), left = this.left();
            const x = t => left + (t - from) / (to - from) * (width - left - 1);
            c.scale(dots, dots);
            c.font = '12px ' + css.fontFamily;
            c.textBaseline = 'middle';
            this.drawFrame(c, colour, width, height, from, to, x);
            c.save();
            c.beginPath();
            c.rect(left, 0, width - left, height - AXIS);
            c.clip();
            this.drawSpans(c, colour, from, to, x);
            this.drawSteals(c, colour, from, to, x);
            c.restore();
            this.drawCursor(c, colour, height, x);
        }

        drawFrame(c, colour, width, height, from, to, x) {
            const format = this.view.format, bottom = height - AXIS, left = this.left();
            const step = niceStep((to - from) / format.size / Math.max(2, (width - left) / 90)) * format.size;
            c.strokeStyle = colour('--line');
            c.fillStyle = colour('--soft');
            c.lineWidth = 1;
            c.textAlign = 'center';
            for (let i = Math.ceil(from / step - 1e-9); i * step <= to; i++) {
                const at = Math.round(x(i * step)) + 0.5;
                const text = String(Number((i * step / format.size).toPrecision(6)));
                const half = c.measureText(text).width / 2;
                c.beginPath();
                c.moveTo(at, 0);
                c.lineTo(at, bottom + 4);
                c.stroke();
                if (at + half < width - 22)
                    c.fillText(text, Math.max(at, half), bottom + 14);
            }
            c.textAlign = 'right';
            c.fillText(format.name, width, bottom + 14);
            c.fillStyle = colour('--text');
            c.textAlign = 'left';
            for (let i = 0; i < this.data.workers; i++)
                c.fillText((left > 40 ? 'Worker ' : '') + i, 0, i * ROW + ROW / 2);
        }

        drawSpans(c, colour, from, to, x) {
            const s = this.data.spans;
            const fill = [colour('--run'), colour('--run-stolen'), colour('--run-park'), colour('--run-wait')];
            const inside = colour('--run-text'), text = colour('--text'), back = colour('--bg');
            c.textAlign = 'center';
            for (let i = 0; i < s.length; i += FIELDS) {
                if (s[i + 2] < from || s[i + 1] > to)
                    continue;
                const a = x(s[i + 1]), width = Math.max(x(s[i + 2]) - a - (x(s[i + 2]) - a > 3 ? 1 : 0), 0.7);
                const what = s[i + 3], height = HEIGHTS[what] * ROW, top = s[i] * ROW + (ROW - height) / 2;
                c.fillStyle = c.strokeStyle = fill[what];
                if (what === 3)
                    c.strokeRect(a + 0.5, top + 0.5, Math.max(width - 1, 0.5), height - 1);
                else
                    c.fillRect(a, top, width, height);
                const room = Math.min(a + width, x(to)) - Math.max(a, x(from));
                const needed = s[i + 4] && room > 12 ? c.measureText(s[i + 4]).width : 0;
                const shown = needed && needed + 6 < room;
                if (what === 1)
                    this.hatch(c, back, a, top, width, height, shown ? needed + 6 : 0);
                if (shown) {
                    c.fillStyle = what === 3 ? text : inside;
                    c.fillText(s[i + 4], Math.max(a, x(from)) + room / 2, s[i] * ROW + ROW / 2 + 1);
                }
            }
        }

        // Stripes at both sides of the label: stolen tasks are not told by their colour alone.
        hatch(c, back, a, top, width, height, label) {
            const side = (width - label) / 2;
            if (side < 4)
                return;
            c.save();
            c.beginPath();
            c.rect(a, top, side, height);
            c.rect(a + width - side, top, side, height);
            c.clip();
            c.strokeStyle = back;
            c.globalAlpha = 0.7;
            c.lineWidth = 1;
            c.beginPath();
            for (let at = a - height; at < a + width; at += 8) {
                c.moveTo(at, top + height);
                c.lineTo(at + height / 2, top);
            }
            c.stroke();
            c.restore();
        }

        // Lines from victims to thieves, while they can be told apart.
        drawSteals(c, colour, from, to, x) {
            const r = this.data.records, seen = [];
            for (let k = 0; k < r.length; k += FIELDS)
                if (r[k + 1] === STOLE && r[k] >= from && r[k] <= to)
                    seen.push(k);
            if (seen.length > 150)
                return;
            for (const k of seen) {
                const at = Math.round(x(r[k])) + 0.5, down = r[k + 2] > r[k + 3] ? 1 : -1;
                const end = r[k + 2] * ROW + ROW / 2 - down * ROW * 0.35;
                const path = new Path2D(`M${at} ${r[k + 3] * ROW + ROW / 2}V${end}m-3 ${-4 * down}l3 ${4 * down}l3 ${-4 * down}`);
                for (const [style, width] of [[colour('--bg'), 3], [colour('--text'), 1]]) {
                    c.strokeStyle = style;
                    c.lineWidth = width;
                    c.stroke(path);
                }
            }
        }

        drawCursor(c, colour, height, x) {
            const at = Math.round(x(this.view.replay.time(this.position))) + 0.5;
            for (const [style, width] of [[colour('--bg'), 5], [colour('--text'), 2]]) {
                c.strokeStyle = style;
                c.lineWidth = width;
                c.beginPath();
                c.moveTo(at, 0);
                c.lineTo(at, height - AXIS + 6);
                c.stroke();
            }
        }

        show(position) {
            this.position = position;
            this.draw();
        }
    }

    // ---- log ------------------------------------------------------------------------------------------------

    class Log {
        constructor(view, data) {
            this.lines = [];
            this.node = element('ol', {class: 'run-log', tabindex: '0', 'aria-label': 'Log'});
            data.lines.forEach((text, i) => {
                if (text !== 0)
                    this.lines.push({after: i + 1, node: element('li', {'data-after': i + 1}, text)});
            });
            this.node.append(...this.lines.map(line => line.node));
            if (!this.lines.length)
                this.node.append(element('li', {class: 'run-empty'}, 'This run printed no log.'));
            this.current = null;
            this.node.addEventListener('click', event => {
                const line = event.target.closest('[data-after]');
                if (line)
                    view.go(Number(line.dataset.after));
            });
        }

        // The last line that was printed.
        lineAt(position) {
            let low = -1, high = this.lines.length - 1;
            while (low < high) {
                const middle = (low + high + 1) >> 1;
                if (this.lines[middle].after <= position)
                    low = middle;
                else
                    high = middle - 1;
            }
            return low < 0 ? null : this.lines[low];
        }

        show(position) {
            const line = this.lineAt(position);
            if (this.current)
                this.current.node.removeAttribute('aria-current');
            this.current = line;
            if (!line) {
                this.node.scrollTop = 0;
                return;
            }
            line.node.setAttribute('aria-current', 'true');
            const above = this.node.scrollTop, height = this.node.clientHeight, at = line.node.offsetTop;
            if (at < above || at + line.node.offsetHeight > above + height)
                this.node.scrollTop = at - height / 2;
        }
    }

    // ---- the view of one run --------------------------------------------------------------------------------

    const SPEEDS = [1, 2, 5, 20, 100];

    class View {
        constructor(section) {
            const data = JSON.parse(section.querySelector('script').textContent);
            this.section = section;
            this.data = data;
            this.number = Number(section.dataset.run);
            this.replay = new Replay(data);
            this.position = 0;
            this.timer = 0;
            this.format = timeFormat(this.replay.time(this.replay.n) - Math.min(0, this.replay.time(0)));
            this.queues = new Queues(data);
            this.gantt = new Gantt(this, data);
            this.log = new Log(this, data);
            this.build();
            this.go(this.fromAddress());
            addEventListener('hashchange', () => this.go(this.fromAddress()));
            matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.gantt.draw());
            new ResizeObserver(() => this.show()).observe(section);
        }

        button(text, label, action) {
            const b = element('button', {type: 'button', 'aria-label': label, title: label}, text);
            b.addEventListener('click', action);
            this.controls.append(b);
            return b;
        }

        build() {
            this.controls = element('div', {class: 'run-controls', role: 'toolbar', 'aria-label': 'Steps of the run'});
            this.toStart = this.button('Start', 'To the start (Home)', () => this.go(0));
            this.back = this.button('Back', 'One record back (left arrow)', () => this.step(-1));
            this.playing = this.button('Play', 'Play or pause (space)', () => this.toggle());
            this.playing.classList.add('run-play');
            this.next = this.button('Next', 'One record on (right arrow)', () => this.step(1));
            this.toEnd = this.button('End', 'To the end (End)', () => this.go(this.replay.n));
            this.speed = element('select', {}, ...SPEEDS.map(s => element('option', {value: s}, s + '/s')));
            this.speed.value = 5;
            this.speed.addEventListener('change', () => this.timer && this.play());
            this.zoom = element('select', {}, ...[1, 4, 16, 64].map(z => element('option', {value: z}, z + '×')));
            this.zoom.addEventListener('change', () => {
                this.gantt.zoom = Number(this.zoom.value);
                this.gantt.draw();
            });
            this.controls.append(element('label', {}, 'Speed ', this.speed), element('label', {}, 'Zoom ', this.zoom));
            this.slider = element('input', {type: 'range', class: 'run-slider', min: 0, max: this.replay.n, step: 1,
                'aria-label': 'Position in the run'});
            this.slider.addEventListener('input', () => this.go(Number(this.slider.value)));
            this.where = element('p', {class: 'run-where'});
            this.now = element('p', {class: 'run-now-line', 'aria-live': 'polite'});
            const left = element('div', {}, this.queues.node, this.gantt.node, this.gantt.legend());
            this.section.append(this.controls, this.slider, this.where, this.now,
                element('div', {class: 'run-body'}, left, this.log.node));
        }

        // How much of the task that worker runs is done at the cursor.
        progress(worker) {
            const s = this.data.spans, now = this.replay.time(this.position);
            for (let i = 0; i < s.length; i += FIELDS)
                if (s[i] === worker && s[i + 1] <= now && s[i + 2] > now && s[i + 3] < 2)
                    return (now - s[i + 1]) / (s[i + 2] - s[i + 1]);
            return 0;
        }

        show() {
            const record = this.replay.record(this.position), n = this.replay.n;
            const text = record ? this.data.lines[this.position - 1] || describe(this.data, record)
                : 'Before the first record';
            this.queues.show(this.replay.at(this.position), record, i => this.progress(i));
            this.gantt.show(this.position);
            this.log.show(this.position);
            this.slider.value = this.position;
            this.slider.setAttribute('aria-valuetext', 'record ' + this.position + ' of ' + n);
            this.where.textContent = `record ${this.position} of ${n}, ${this.format.text(this.replay.time(this.position))}`;
            if (this.now.textContent !== text)
                this.now.textContent = text;
            this.toStart.disabled = this.back.disabled = this.position === 0;
            this.toEnd.disabled = this.next.disabled = this.position === n;
        }

        go(position) {
            this.position = Math.max(0, Math.min(this.replay.n, position || 0));
            this.show();
            this.toAddress();
            if (this.position === this.replay.n)
                this.pause();
        }

        step(by) {
            this.pause();
            this.go(this.position + by);
        }

        play() {
            clearInterval(this.timer);
            if (this.position === this.replay.n)
                this.go(0);
            this.timer = setInterval(() => this.go(this.position + 1), 1000 / Number(this.speed.value));
            this.playing.textContent = 'Pause';
            this.now.setAttribute('aria-live', 'off'); // too fast to be read out
        }

        pause() {
            clearInterval(this.timer);
            this.timer = 0;
            this.playing.textContent = 'Play';
            this.now.setAttribute('aria-live', 'polite');
        }

        toggle() {
            if (this.timer)
                this.pause();
            else
                this.play();
        }

        // #at=17 is a position of the first run of the page, #at=17&run=1 of the second.
        fromAddress() {
            const fields = new URLSearchParams(location.hash.slice(1));
            return Number(fields.get('run') || 0) === this.number && fields.has('at') ? Number(fields.get('at'))
                : this.position;
        }

        // A little later, as browsers limit how often the address may change.
        toAddress() {
            clearTimeout(this.addressTimer);
            this.addressTimer = setTimeout(() => {
                if (this.position || location.hash)
                    history.replaceState(null, '', '#at=' + this.position + (this.number ? '&run=' + this.number : ''));
            }, 400);
        }

        onScreen() {
            const r = this.controls.getBoundingClientRect();
            return r.bottom > 0 && r.top < innerHeight;
        }

        // Returns true if the key was one of the view's.
        key(name, onButton) {
            if (name === 'ArrowLeft')
                this.step(-1);
            else if (name === 'ArrowRight')
                this.step(1);
            else if (name === 'Home' || name === 'End')
                this.step(name === 'Home' ? -Infinity : Infinity);
            else if (name === ' ' && !onButton)
                this.toggle();
            else
                return false;
            return true;
        }
    }

    // Keys go to the view with the focus, else to the first whose controls are on the screen.
    function start() {
        const views = [...document.querySelectorAll('section.run')].map(section => new View(section));
        document.addEventListener('keydown', event => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey)
                return;
            const target = event.target, onButton = target.closest && target.closest('button, summary, a');
            if (target.closest && target.closest('select, input:not([type=range]), textarea'))
                return;
            const view = views.find(v => v.section.contains(target))
                || (target === document.body ? views.find(v => v.onScreen()) : null);
            if (view && view.key(event.key, onButton))
                event.preventDefault();
        });
    }

    document.addEventListener('DOMContentLoaded', start);
})();
