use crate::{cpu_time, per_op, Outcome, Report};
use std::process::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!";

/// How many requests end in these bytes; state is how much of the empty line has been seen.
fn ends(state: &mut usize, bytes: &[u8]) -> usize {
    let (mut found, mut seen) = (0, *state);
    for &b in bytes {
        if b == b"\r\n\r\n"[seen] {
            seen += 1;
        } else {
            seen = (b == b'\r') as usize;
        }
        if seen == 4 {
            found += 1;
            seen = 0;
        }
    }
    *state = seen;
    found
}

async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    let mut state = 0;
    loop {
        let n = stream.read(&mut bytes).await?;
        if n == 0 {
            return Ok(());
        }
        for _ in 0..ends(&mut state, &bytes[..n]) {
            stream.write_all(ANSWER).await?;
        }
    }
}

async fn accept(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream));
    }
}

fn files_allow() {
    unsafe {
        let mut files = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut files) == 0 {
            files.rlim_cur = files.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &files);
        }
    }
}

fn wrk_requests(text: &str) -> Result<usize, String> {
    let at = text.find(" requests in ").ok_or("wrk cannot be run (is it installed?)")?;
    if text.contains("Non-2xx")
        || text.contains("Socket errors:") && !text.contains("connect 0, read 0, write 0,")
    {
        return Err("wrk saw errors".to_string());
    }
    match text[..at].split_whitespace().last().map(str::parse) {
        Some(Ok(n)) if n > 0 => Ok(n),
        _ => Err("no request was answered".to_string()),
    }
}

pub fn cpu(rt: &Runtime, seconds: usize, connections: usize) -> Outcome {
    files_allow();
    let listener = rt.block_on(TcpListener::bind("127.0.0.1:0")).map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    let server = rt.spawn(accept(listener));
    let before = cpu_time();
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s"), &format!("http://{address}/")])
        .output()
        .map_err(|_| "wrk cannot be run (is it installed?)")?;
    let used = cpu_time() - before;
    server.abort();
    let requests = wrk_requests(&String::from_utf8_lossy(&output.stdout))?;
    Ok(Report { ns_per_op: per_op(used, requests), more: format!(" requests={requests}") })
}
