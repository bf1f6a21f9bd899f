module expose-valkey/luahealth

go 1.24

require (
	github.com/yuin/gopher-lua v1.1.1
	go.yaml.in/yaml/v3 v3.0.4
)
