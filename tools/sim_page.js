// sim_page.js: the run view. Every <section class="run"> holds a run as JSON (sim_page.c). This builds the
// controls, the queues, the Gantt chart and the log from it.
'use strict';
(function () {
    const {SUBMITTED, STOLE, SPAWNED, FIELDS, Replay, describe, timeFormat} = simReplay;

    // ---- document -------------------------------------------------------------------------------

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

    // ---- queues ---------------------------------------------------------------------------------

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
            const name = element('div', {class: 'run-name'}, 'Worker ' + i, row.counts);
            row.node.append(name, row.task, row.queue);
            this.node.append(row.node);
            return row;
        }

        showTask(row, w, progress) {
            const waits = w.waiting.map(t => this.data.names[t]).join(', ');
            const idle = w.task < 0 && !waits;
            row.task.className = 'run-task' + (idle ? ' is-idle' : w.task < 0 ? ' is-waiting' : '')
                + (w.task >= 0 && w.stolen ? ' is-stolen' : '');
            let text = w.parked ? 'parked' : 'idle';
            if (w.task >= 0)
                text = this.data.names[w.task] + (w.stolen ? ' (stolen)' : '')
                    + (waits ? ' (' + waits + ' waits)' : '');
            else if (waits)
                text = waits + ' waits';
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
                const pushed = mine && [SUBMITTED, SPAWNED, STOLE].includes(record.kind);
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

    // ---- log ------------------------------------------------------------------------------------

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

    // ---- the view of one run --------------------------------------------------------------------

    const SPEEDS = [1, 2, 5, 20, 100], ZOOMS = [1, 4, 16, 64]; // records per second; parts of the run

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
            this.gantt = new SimGantt(this, data);
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
            this.controls = element('div',
                {class: 'run-controls', role: 'toolbar', 'aria-label': 'Steps of the run'});
            this.toStart = this.button('Start', 'To the start (Home)', () => this.go(0));
            this.back = this.button('Back', 'One record back (left arrow)', () => this.step(-1));
            this.playing = this.button('Play', 'Play or pause (space)', () => this.toggle());
            this.playing.classList.add('run-play');
            this.next = this.button('Next', 'One record on (right arrow)', () => this.step(1));
            this.toEnd = this.button('End', 'To the end (End)', () => this.go(this.replay.n));
            this.speed = element('select', {}, ...SPEEDS.map(s => element('option', {value: s}, s + '/s')));
            this.speed.value = 5;
            this.speed.addEventListener('change', () => this.timer && this.play());
            this.zoom = element('select', {}, ...ZOOMS.map(z => element('option', {value: z}, z + '×')));
            this.zoom.addEventListener('change', () => {
                this.gantt.zoom = Number(this.zoom.value);
                this.gantt.draw();
            });
            this.controls.append(element('label', {}, 'Speed ', this.speed),
                element('label', {}, 'Zoom ', this.zoom));
            this.slider = element('input', {type: 'range', class: 'run-slider', min: 0, max: this.replay.n,
                step: 1, 'aria-label': 'Position in the run'});
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
            this.where.textContent = 'record ' + this.position + ' of ' + n + ', '
                + this.format.text(this.replay.time(this.position));
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
            const mine = fields.has('at') && Number(fields.get('run')) === this.number;
            return mine ? Number(fields.get('at')) : this.position;
        }

        // A little later, as browsers limit how often the address may change.
        toAddress() {
            clearTimeout(this.addressTimer);
            this.addressTimer = setTimeout(() => {
                const run = this.number ? '&run=' + this.number : '';
                if (this.position || location.hash)
                    history.replaceState(null, '', '#at=' + this.position + run);
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
