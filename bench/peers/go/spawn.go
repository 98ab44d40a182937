package main

import (
	"runtime"
	"sync"
	"time"
)

func spawnMany(n int) (report, error) {
	var wg sync.WaitGroup
	start := time.Now()
	wg.Add(n)
	for i := 0; i < n; i++ {
		go wg.Done()
	}
	wg.Wait()
	return report{nsPerOp: perOp(time.Since(start), n)}, nil
}

func giveBack(c chan<- int, i int) {
	c <- i
}

func spawnJoin(n int) (report, error) {
	c := make(chan int, 1)
	var sum int64
	start := time.Now()
	for i := 0; i < n; i++ {
		go giveBack(c, i)
		sum += int64(<-c)
	}
	d := time.Since(start)
	return report{nsPerOp: perOp(d, n)}, checkSum(sum, int64(n))
}

// The original program, github.com/atemerev/skynet.
func skynet(c chan int64, number int64, leaves int64) {
	if leaves == 1 {
		c <- number
		return
	}
	rc := make(chan int64)
	var sum int64
	for i := int64(0); i < 10; i++ {
		go skynet(rc, number+i*(leaves/10), leaves/10)
	}
	for i := 0; i < 10; i++ {
		sum += <-rc
	}
	c <- sum
}

func spawnSkynet(n int) (report, error) {
	start := time.Now()
	c := make(chan int64)
	go skynet(c, 0, int64(n))
	sum := <-c
	d := time.Since(start)
	return report{nsPerOp: perOp(d, n)}, checkSum(sum, int64(n))
}

func yieldTwo(n int) (report, error) {
	var wg sync.WaitGroup
	start := time.Now()
	wg.Add(2)
	for t := 0; t < 2; t++ {
		go func() {
			for i := 0; i < n; i++ {
				runtime.Gosched()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	return report{nsPerOp: perOp(time.Since(start), 2*n)}, nil
}
