use crate::{check_sum, report, run, All, Outcome};
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;
use tokio::runtime::Runtime;

pub fn many(rt: &Runtime, n: usize) -> Outcome {
    let d = run(rt, async move {
        let start = Instant::now();
        let all = All::expect(n);
        for _ in 0..n {
            let all = all.clone();
            tokio::spawn(async move { all.done() });
        }
        all.wait().await;
        start.elapsed()
    });
    report(d, n)
}

pub fn join(rt: &Runtime, n: usize) -> Outcome {
    let (d, sum) = run(rt, async move {
        let start = Instant::now();
        let mut sum = 0;
        for i in 0..n as u64 {
            sum += tokio::spawn(async move { i }).await.unwrap();
        }
        (start.elapsed(), sum)
    });
    check_sum(sum, n as u64)?;
    report(d, n)
}

/// A leaf needs no box: it is a future of its own.
fn node(number: u64, leaves: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        let below = leaves / 10;
        let mut children = Vec::with_capacity(10);
        for i in 0..10 {
            let first = number + i * below;
            children.push(if below == 1 {
                tokio::spawn(async move { first })
            } else {
                tokio::spawn(node(first, below))
            });
        }
        let mut sum = 0;
        for child in children {
            sum += child.await.unwrap();
        }
        sum
    })
}

pub fn skynet(rt: &Runtime, n: usize) -> Outcome {
    let (d, sum) = run(rt, async move {
        let start = Instant::now();
        let sum = tokio::spawn(node(0, n as u64)).await.unwrap();
        (start.elapsed(), sum)
    });
    check_sum(sum, n as u64)?;
    report(d, n)
}

async fn yielder(n: usize) {
    for _ in 0..n {
        tokio::task::yield_now().await;
    }
}

pub fn yield_two(rt: &Runtime, n: usize) -> Outcome {
    let d = run(rt, async move {
        let start = Instant::now();
        let (a, b) = (tokio::spawn(yielder(n)), tokio::spawn(yielder(n)));
        a.await.unwrap();
        b.await.unwrap();
        start.elapsed()
    });
    report(d, 2 * n)
}
