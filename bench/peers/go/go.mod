module tasks

go 1.19
