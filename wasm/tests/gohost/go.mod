module gohost

go 1.24

require (
	github.com/bytecodealliance/wasmtime-go v1.0.0
	github.com/prep/wasmexec v0.0.0-20220807105708-6554945c1dec
)
