use crate::{cpu_time, per_op, percentile, report, run, All, Outcome, Report};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::{sleep, sleep_until};

pub fn all(rt: &Runtime, n: usize) -> Outcome {
    let d = run(rt, async move {
        let all = All::expect(n);
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut sleepers = Vec::with_capacity(n);
        for _ in 0..n {
            let (send, recv) = oneshot::channel::<()>();
            let (all, waiting) = (all.clone(), waiting.clone());
            sleepers.push(send);
            tokio::spawn(async move {
                waiting.fetch_add(1, Ordering::Relaxed);
                recv.await.unwrap();
                all.done();
            });
        }
        while waiting.load(Ordering::Relaxed) < n {
            sleep(Duration::from_millis(1)).await;
        }
        sleep(Duration::from_millis(20)).await;
        let start = Instant::now();
        for sleeper in sleepers {
            sleeper.send(()).unwrap();
        }
        all.wait().await;
        start.elapsed()
    });
    report(d, n)
}

/// One place per task for its sample: written once, by the task.
fn samples_new(n: usize) -> Arc<Vec<AtomicI64>> {
    Arc::new((0..n).map(|_| AtomicI64::new(0)).collect())
}

fn samples_take(samples: &[AtomicI64]) -> Vec<i64> {
    samples.iter().map(|s| s.load(Ordering::Relaxed)).collect()
}

/// which: 0 median, 1 99th percentile, 2 CPU time.
pub fn timers(rt: &Runtime, n: usize, which: usize) -> Outcome {
    let late = samples_new(n);
    let samples = late.clone();
    let cpu = run(rt, async move {
        let cpu = cpu_time();
        let all = All::expect(n);
        let first = Instant::now() + Duration::from_micros(4 * n as u64);
        for i in 0..n {
            let place = i * 7919 % n;
            let deadline = first + Duration::from_micros(10 * place as u64);
            let (all, samples) = (all.clone(), samples.clone());
            tokio::spawn(async move {
                sleep_until(deadline.into()).await;
                let now = Instant::now();
                let ns = match now.checked_duration_since(deadline) {
                    Some(d) => d.as_nanos() as i64,
                    None => -1,
                };
                samples[i].store(ns, Ordering::Relaxed);
                all.done();
            });
        }
        all.wait().await;
        cpu_time() - cpu
    });
    let mut late = samples_take(&late);
    let (p50, p99) = (percentile(&mut late, 0.5), percentile(&mut late, 0.99));
    if late[0] < 0 {
        return Err("a task woke before its deadline".to_string());
    }
    let figures = [p50 as f64, p99 as f64, per_op(cpu, n)];
    let more = format!(" p50_ns={p50} p99_ns={p99} cpu_ns={:.1}", figures[2]);
    Ok(Report { ns_per_op: figures[which], more })
}

const GAP: Duration = Duration::from_micros(20);

fn probes_send(spawner: &Handle, samples: &Arc<Vec<AtomicI64>>, all: &Arc<All>) {
    for i in 0..samples.len() {
        let (all, samples) = (all.clone(), samples.clone());
        let now = Instant::now();
        spawner.spawn(async move {
            samples[i].store(now.elapsed().as_nanos() as i64, Ordering::Relaxed);
            all.done();
        });
        while now.elapsed() < GAP {}
    }
}

fn latency_report(samples: &[AtomicI64]) -> Outcome {
    let mut ns = samples_take(samples);
    let p50 = percentile(&mut ns, 0.5);
    Ok(Report { ns_per_op: p50 as f64, more: format!(" p99_ns={}", percentile(&mut ns, 0.99)) })
}

pub fn latency_in(rt: &Runtime, n: usize) -> Outcome {
    let samples = samples_new(n);
    let mine = samples.clone();
    run(rt, async move {
        let all = All::expect(n);
        probes_send(&Handle::current(), &mine, &all);
        all.wait().await;
    });
    latency_report(&samples)
}

pub fn latency_out(rt: &Runtime, n: usize) -> Outcome {
    let samples = samples_new(n);
    let (mine, handle, all) = (samples.clone(), rt.handle().clone(), All::expect(n));
    let theirs = all.clone();
    std::thread::spawn(move || probes_send(&handle, &mine, &theirs)).join().unwrap();
    rt.block_on(all.wait());
    latency_report(&samples)
}
