//! The cases of par/par_bench.h on Rayon, as a library: main, inputs and checks are those of the other
//! runtimes, in C.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::null;
use std::slice::{from_raw_parts, from_raw_parts_mut};

type Compare = extern "C" fn(*const c_void, *const c_void) -> c_int;
type Find = extern "C" fn(*const i32, usize, i32) -> usize;
type Spin = extern "C" fn(*mut u64, *const u32, usize);

#[repr(C)]
pub struct Runtime {
    start: extern "C" fn(c_int) -> *const c_char,
    stop: extern "C" fn(),
    version: extern "C" fn() -> *const c_char,
    run: extern "C" fn(extern "C" fn(*mut c_void), *mut c_void),
    light: extern "C" fn(*mut f32, usize, f32, f32),
    sum: extern "C" fn(*const f64, usize) -> f64,
    scan: Option<extern "C" fn(*mut i32, *const i32, usize)>,
    sort: extern "C" fn(*mut i32, usize),
    sort_by: extern "C" fn(*mut i32, usize, Compare),
    find: [Option<Find>; 3],
    spin: [Option<Spin>; 3],
}

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static par_runtime: Runtime = Runtime {
    start,
    stop,
    version,
    run,
    light,
    sum,
    scan: None,
    sort,
    sort_by,
    find: [Some(find), Some(find_chunks), None],
    spin: [Some(spin), None, None],
};

extern "C" {
    fn par_spin(seed: u64, units: u32) -> u64;
}

const FIND_CHUNK: usize = 32768;

static mut POOL: Option<ThreadPool> = None; // written before and after everything else

extern "C" fn start(workers: c_int) -> *const c_char {
    match ThreadPoolBuilder::new().num_threads(workers as usize).build() {
        Ok(pool) => unsafe {
            POOL = Some(pool);
            null()
        },
        Err(_) => b"the thread pool cannot be made\0".as_ptr() as *const c_char,
    }
}

extern "C" fn stop() {
    unsafe { POOL = None }
}

extern "C" fn version() -> *const c_char {
    concat!(env!("RAYON_VERSION"), "\0").as_ptr() as *const c_char
}

struct Job(extern "C" fn(*mut c_void), *mut c_void);
unsafe impl Send for Job {}

impl Job {
    fn call(self) {
        self.0(self.1)
    }
}

extern "C" fn run(code: extern "C" fn(*mut c_void), arg: *mut c_void) {
    let job = Job(code, arg);
    unsafe { POOL.as_ref().unwrap().install(move || job.call()) }
}

extern "C" fn light(v: *mut f32, n: usize, k: f32, c: f32) {
    let v = unsafe { from_raw_parts_mut(v, n) };
    v.par_iter_mut().for_each(|x| *x = *x * k + c);
}

extern "C" fn sum(v: *const f64, n: usize) -> f64 {
    unsafe { from_raw_parts(v, n) }.par_iter().sum()
}

extern "C" fn find(v: *const i32, n: usize, wanted: i32) -> usize {
    let v = unsafe { from_raw_parts(v, n) };
    v.par_iter().position_any(|&x| x == wanted).unwrap_or(n)
}

extern "C" fn find_chunks(v: *const i32, n: usize, wanted: i32) -> usize {
    let chunks = unsafe { from_raw_parts(v, n) }.par_chunks(FIND_CHUNK).enumerate();
    let look = |(i, chunk): (usize, &[i32])| Some(i * FIND_CHUNK + chunk.iter().position(|&x| x == wanted)?);
    chunks.find_map_any(look).unwrap_or(n)
}

extern "C" fn sort(v: *mut i32, n: usize) {
    unsafe { from_raw_parts_mut(v, n) }.par_sort_unstable()
}

extern "C" fn sort_by(v: *mut i32, n: usize, compare: Compare) {
    let pointer = |x: &i32| x as *const i32 as *const c_void;
    unsafe { from_raw_parts_mut(v, n) }.par_sort_unstable_by(|a, b| compare(pointer(a), pointer(b)).cmp(&0));
}

extern "C" fn spin(to: *mut u64, units: *const u32, n: usize) {
    let (to, units) = unsafe { (from_raw_parts_mut(to, n), from_raw_parts(units, n)) };
    let both = to.par_iter_mut().zip(units).enumerate();
    both.for_each(|(i, (x, &cost))| *x = unsafe { par_spin(i as u64, cost) });
}
