// sim_gantt.js: the Gantt chart of the run view, on a canvas: one row per worker, and a line at the cursor.
'use strict';
const SimGantt = (function () {
    const {STOLE, FIELDS} = simReplay;
    // A span has five fields as well: worker, from, to, activity, label.
    const ACTIVITIES = ['executes', 'executes a stolen task', 'is parked', 'its task waits for children'];
    const ROW = 24, AXIS = 24, HEIGHTS = [0.8, 0.8, 0.2, 0.8];

    function niceStep(raw) {
        const power = Math.pow(10, Math.floor(Math.log10(raw))), part = raw / power;
        return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    }

    class Gantt {
        constructor(view, data) {
            this.view = view;
            this.data = data;
            this.zoom = 1;
            this.position = 0;
            this.node = document.createElement('canvas');
            this.node.className = 'run-gantt';
            this.node.setAttribute('role', 'img');
            this.node.setAttribute('aria-label', 'Gantt chart: what each worker does over time');
            this.node.style.height = data.workers * ROW + AXIS + 'px';
            const r = data.records;
            this.first = r.length ? r[0] : 0;
            this.last = r.length ? Math.max(r[r.length - FIELDS], this.first + 1) : 1;
            this.node.addEventListener('click', event => {
                view.go(view.replay.positionAt(this.timeAt(event.offsetX)));
            });
        }

        legend() {
            const list = document.createElement('ul'), used = new Set();
            list.className = 'run-legend';
            for (let i = 3; i < this.data.spans.length; i += FIELDS)
                used.add(this.data.spans[i]);
            const colours = ['var(--run)', 'var(--run-stolen)', 'var(--run-park)', 'var(--run-wait)'];
            ACTIVITIES.forEach((text, i) => {
                const item = document.createElement('li'), sample = document.createElement('span');
                sample.className = 'run-sample';
                item.append(sample, text);
                sample.style.height = HEIGHTS[i] * 14 + 'px';
                if (i === 1)
                    sample.style.background = `repeating-linear-gradient(115deg,${colours[1]} 0 6px,#0000 6px 7px)`;
                else if (i === 3)
                    sample.style.border = '1px solid ' + colours[i];
                else
                    sample.style.background = colours[i];
                if (used.has(i))
                    list.append(item);
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
            const part = (x - left) / (this.node.clientWidth - left - 1);
            return from + Math.max(0, Math.min(1, part)) * (to - from);
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
            const fill = ['--run', '--run-stolen', '--run-park', '--run-wait'].map(colour);
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
                const head = `m-3 ${-4 * down}l3 ${4 * down}l3 ${-4 * down}`;
                const path = new Path2D(`M${at} ${r[k + 3] * ROW + ROW / 2}V${end}${head}`);
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

    return Gantt;
})();
