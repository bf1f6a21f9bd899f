// luahealth runs a health check of Argo CD on an object, by the Lua that Argo CD
// has and with as little of Lua's library:
//
//	luahealth argocd-cm.yaml object.yaml
//
// The check is that of the object's group and kind in the ConfigMap. Prints the
// health's status.
package main

import (
	"fmt"
	"os"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"go.yaml.in/yaml/v3"
)

func main() {
	status, err := health(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "luahealth:", err)
		os.Exit(1)
	}
	fmt.Println(status)
}

func health(settings, file string) (string, error) {
	var config struct{ Data map[string]string }
	if err := read(settings, &config); err != nil {
		return "", err
	}
	object := map[string]any{}
	if err := read(file, &object); err != nil {
		return "", err
	}
	group, _, _ := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	key := fmt.Sprintf("resource.customizations.health.%s_%s", group, object["kind"])
	script, there := config.Data[key]
	if !there {
		return "", fmt.Errorf("%s has no %s", settings, key)
	}

	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, open := range []struct {
		name     string
		function lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open.function), Protect: true}, lua.LString(open.name)); err != nil {
			return "", err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return "", err
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", fmt.Errorf("%s must return a table", key)
	}
	if _, ok := result.RawGetString("message").(lua.LString); !ok {
		return "", fmt.Errorf("%s must return a message", key)
	}
	status := result.RawGetString("status").String()
	switch status {
	case "Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown":
		return status, nil
	}
	return "", fmt.Errorf("%s must return a health status, not %s", key, status)
}

func read(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

func value(state *lua.LState, from any) lua.LValue {
	switch from := from.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, inner := range from {
			table.RawSetString(key, value(state, inner))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, inner := range from {
			table.Append(value(state, inner))
		}
		return table
	case string:
		return lua.LString(from)
	case bool:
		return lua.LBool(from)
	case int:
		return lua.LNumber(from)
	case float64:
		return lua.LNumber(from)
	}
	return lua.LNil
}
