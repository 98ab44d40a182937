use crate::{check_sum, report, run, Outcome};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, Mutex};

pub fn pingpong(rt: &Runtime, n: usize) -> Outcome {
    let (d, sum) = run(rt, async move {
        let (ping, mut ping_end) = mpsc::channel::<u64>(1);
        let (pong, mut pong_end) = mpsc::channel::<u64>(1);
        let mut sum = 0;
        let start = Instant::now();
        let other = tokio::spawn(async move {
            for _ in 0..n {
                let i = ping_end.recv().await.unwrap();
                pong.send(i).await.unwrap();
            }
        });
        for i in 0..n as u64 {
            ping.send(i).await.unwrap();
            sum += pong_end.recv().await.unwrap();
        }
        other.await.unwrap();
        (start.elapsed(), sum)
    });
    check_sum(sum, n as u64)?;
    report(d, n)
}

/// An mpsc channel has one receiver, whatever the number of senders.
pub fn stream(rt: &Runtime, n: usize, senders: usize) -> Outcome {
    let share = (n + senders - 1) / senders;
    let total = share * senders;
    let (d, sum) = run(rt, async move {
        let (send, mut recv) = mpsc::channel::<u64>(128);
        let start = Instant::now();
        let receiver = tokio::spawn(async move {
            let mut sum = 0;
            for _ in 0..total {
                sum += recv.recv().await.unwrap();
            }
            sum
        });
        for s in 0..senders {
            let send = send.clone();
            tokio::spawn(async move {
                for i in s * share..(s + 1) * share {
                    send.send(i as u64).await.unwrap();
                }
            });
        }
        let sum = receiver.await.unwrap();
        (start.elapsed(), sum)
    });
    check_sum(sum, total as u64)?;
    report(d, total)
}

const LOCKERS: usize = 8;

pub fn mutex(rt: &Runtime, n: usize) -> Outcome {
    let share = (n + LOCKERS - 1) / LOCKERS;
    let (d, counter) = run(rt, async move {
        let counter = Arc::new(Mutex::new(0));
        let start = Instant::now();
        let mut tasks = Vec::new();
        for _ in 0..LOCKERS {
            let counter = counter.clone();
            tasks.push(tokio::spawn(async move {
                for _ in 0..share {
                    *counter.lock().await += 1;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let d = start.elapsed();
        let counter = *counter.lock().await;
        (d, counter)
    });
    if counter != share * LOCKERS {
        return Err(format!("wrong count: {counter}"));
    }
    report(d, counter)
}
