module compare

go 1.26
