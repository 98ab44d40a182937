//! filch-bench-tokio CASE WORKERS MODE [SIZE]: the cases of tasks/cases.h on Tokio's multi-threaded
//! scheduler. Prints one line of key=value. Exit status 0; 1 if a result is wrong; 2 if the request
//! makes no sense.

mod chan;
mod http;
mod spawn;
mod wake;

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

const REPEAT_MIN: usize = 2;
const REPEAT_MAX: usize = 5;
const REPEAT_BUDGET: Duration = Duration::from_secs(1);

pub struct Report {
    pub ns_per_op: f64,
    pub more: String, // further figures, as " key=value"
}

pub type Outcome = Result<Report, String>;
type Run = fn(&Runtime, usize) -> Outcome;

/// Name, size, code, and whether it runs once only.
const CASES: &[(&str, usize, Run, bool)] = &[
    ("spawn", 1000000, spawn::many, false),
    ("spawn_join", 1000000, spawn::join, false),
    ("skynet", 1000000, spawn::skynet, false),
    ("yield", 1000000, spawn::yield_two, false),
    ("pingpong", 500000, chan::pingpong, false),
    ("chan_1_1", 2000000, |rt, n| chan::stream(rt, n, 1), false),
    ("chan_4_4", 2000000, |rt, n| chan::stream(rt, n, 4), false),
    ("mutex", 2000000, chan::mutex, false),
    ("wake", 100000, wake::all, false),
    ("timer_p50", 100000, |rt, n| wake::timers(rt, n, 0), true),
    ("timer_p99", 100000, |rt, n| wake::timers(rt, n, 1), true),
    ("timer_cpu", 100000, |rt, n| wake::timers(rt, n, 2), true),
    ("latency_in", 10000, wake::latency_in, false),
    ("latency_out", 10000, wake::latency_out, false),
    ("http_cpu_64", 3, |rt, n| http::cpu(rt, n, 64), true),
    ("http_cpu_1000", 3, |rt, n| http::cpu(rt, n, 1000), true),
];

/// Runs the future as a task on a worker: block_on alone would run it on this thread.
pub fn run<F>(rt: &Runtime, future: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    rt.block_on(rt.spawn(future)).unwrap()
}

/// Waits until a number of tasks are done.
pub struct All {
    left: AtomicUsize,
    done: Notify,
}

impl All {
    pub fn expect(n: usize) -> Arc<All> {
        Arc::new(All { left: AtomicUsize::new(n), done: Notify::new() })
    }

    pub fn done(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.notify_one();
        }
    }

    pub async fn wait(&self) {
        self.done.notified().await
    }
}

pub fn per_op(d: Duration, n: usize) -> f64 {
    d.as_nanos() as f64 / n as f64
}

pub fn report(d: Duration, n: usize) -> Outcome {
    Ok(Report { ns_per_op: per_op(d, n), more: String::new() })
}

pub fn check_sum(sum: u64, n: u64) -> Result<(), String> {
    let want = n * (n - 1) / 2;
    if sum == want { Ok(()) } else { Err(format!("wrong sum: {sum}, expected {want}")) }
}

/// Sorts the samples.
pub fn percentile(samples: &mut [i64], fraction: f64) -> i64 {
    samples.sort_unstable();
    samples[(fraction * (samples.len() - 1) as f64) as usize]
}

pub fn cpu_time() -> Duration {
    let mut u = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let u = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, u.as_mut_ptr());
        u.assume_init()
    };
    Duration::from_secs((u.ru_utime.tv_sec + u.ru_stime.tv_sec) as u64)
        + Duration::from_micros((u.ru_utime.tv_usec + u.ru_stime.tv_usec) as u64)
}

fn refuse(status: i32, what: &str) -> ! {
    eprintln!("{what}");
    std::process::exit(status)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() < 4 || args.len() > 5 || args[3] != "default" {
        refuse(2, "usage: CASE WORKERS default [SIZE]");
    }
    let (_, size, case, once) = match CASES.iter().find(|c| c.0 == args[1]) {
        Some(c) => *c,
        None => refuse(2, "no such case"),
    };
    let number = |text: &String| match text.parse::<usize>() {
        Ok(n) if n > 0 => n,
        _ => refuse(2, "not a number of workers or size"),
    };
    let workers = number(&args[2]);
    let size = args.get(4).map_or(size, number);
    let rt = Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();

    let mut best: Option<Report> = None;
    let (mut runs, start) = (0, Instant::now());
    let more = |runs| runs < REPEAT_MIN || runs < REPEAT_MAX && start.elapsed() < REPEAT_BUDGET;
    while runs == 0 || !once && more(runs) {
        match case(&rt, size) {
            Err(what) => refuse(1, &what),
            Ok(r) if best.as_ref().map_or(true, |b| r.ns_per_op < b.ns_per_op) => best = Some(r),
            Ok(_) => {}
        }
        runs += 1;
    }
    let best = best.unwrap();
    println!(
        "ns_per_op={:.4} size={size} repetitions={runs}{} runtime_version={}",
        best.ns_per_op,
        best.more,
        env!("TOKIO_VERSION")
    );
}
