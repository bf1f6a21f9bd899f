//! Folders of manifests on the command line: nothing in them is lost, and all that matters in them is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CLUSTER: &str = "\
apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {shards: 1, externalAccess: {enabled: true, serviceType: NodePort}}
";
const CONFIG: &str = "apiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {name: expose}\nspec: ";

/// A new folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("folders").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

/// Exit code, standard output and standard error.
fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(folder).args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn render_writes_over_no_manifest() {
    let other = CLUSTER.replace("name: cache", "name: other");
    let folder = folder("over", &[("c.yaml", CLUSTER), ("d.yaml", &other)]);
    std::os::unix::fs::symlink("c.yaml", folder.join("link.yml")).unwrap();
    let command = format!(
        "{CONFIG}{{mode: OperatorManaged, announce: Command, clusters: [{{externalAccess: {{enabled: true, domain: kv.example.org, nodePorts: {{base: 31000}}}}}}]}}\n"
    );
    let plain = "apiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache, namespace: shop}\nspec:\n  shards: 1\n";
    fs::write(folder.join("command.yml"), format!("{plain}---\n{command}")).unwrap();
    // A cluster that was edited in its own file looks like the copies that `render` writes, and is none.
    fs::write(folder.join("edited.yml"), plain).unwrap();
    fs::write(folder.join("expose.yml"), &command).unwrap();
    assert_eq!(run(&folder, &["render", "-f", "edited.yml", "-f", "expose.yml", "--in-place"]).0, 0);
    assert!(fs::read_to_string(folder.join("edited.yml")).unwrap().contains("EXPOSE_VALKEY_ADDED"));
    for args in [
        &["-f", "c.yaml", "-o", "c.yaml"][..],
        &["-f", "c.yaml", "-o", "c.yaml", "--check"],
        &["-f", "c.yaml", "-f", "d.yaml", "-o", "./c.yaml"],
        &["-f", "link.yml", "-o", "c.yaml"],
        &["-f", "c.yaml", "-o", "link.yml"],
        &["-f", "command.yml", "-o", "command.yml"],
        &["-f", "command.yml", "-o", "command.yml", "--in-place"],
        &["-f", "edited.yml", "-f", "edited.yml", "-f", "expose.yml", "-o", "edited.yml"],
    ] {
        let before = ["c.yaml", "command.yml", "edited.yml"].map(|file| fs::read_to_string(folder.join(file)).unwrap());
        let (code, out, said) = run(&folder, &[&["render"], args].concat());
        assert!(code == 1 && out.is_empty(), "{args:?}: {out}");
        assert!(said.contains("would be lost: valkey.io/v1alpha1/ValkeyCluster/shop/cache; write to another file"), "{args:?}: {said}");
        assert_eq!(["c.yaml", "command.yml", "edited.yml"].map(|file| fs::read_to_string(folder.join(file)).unwrap()), before, "{args:?}");
    }
}

#[test]
fn render_writes_over_what_it_wrote_and_over_nothing_that_was_put_beside_it() {
    let folder = folder("beside", &[("c.yaml", CLUSTER)]);
    let render = ["render", "-f", ".", "-o", "out.yaml"];
    assert_eq!(run(&folder, &render), (0, String::new(), String::new()));
    let written = fs::read_to_string(folder.join("out.yaml")).unwrap();
    assert_eq!(run(&folder, &render), (0, String::new(), String::new()));
    assert_eq!(fs::read_to_string(folder.join("out.yaml")).unwrap(), written);
    // A ConfigMap is no business of ours, and is somebody's all the same.
    for more in ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n", "a: [\n"] {
        let text = format!("{written}---\n{more}");
        fs::write(folder.join("out.yaml"), &text).unwrap();
        let (code, _, said) = run(&folder, &render);
        assert!(code == 1 && said.contains("would be lost"), "{said}");
        assert_eq!(fs::read_to_string(folder.join("out.yaml")).unwrap(), text);
    }
}

#[test]
fn what_others_have_is_read_in_a_folder_too() {
    let config = format!("{CONFIG}{{clusters: [{{externalAccess: {{nodePorts: {{base: 31000}}}}}}]}}\n");
    let web = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: front}\nspec:\n  type: NodePort\n  ports: [{port: 80, nodePort: 31000}]\n";
    let template = "{{- if .Values.web }}\nkind: Service\nmetadata: {namespace: {{ .Release.Namespace }}}\nspec: {nodePort: {{ .Values.port }}\n{{- end }}\n";
    let folder = folder("others", &[("c.yaml", CLUSTER), ("e.yaml", &config), ("template.yaml", template)]);
    assert_eq!(run(&folder, &["check", "-f", "."]).0, 0, "a template that names no kind of ours is nobody's manifest");
    fs::write(folder.join("web.yaml"), web).unwrap();
    let (code, said, _) = run(&folder, &["check", "-f", "."]);
    assert!(code == 1 && said.contains("belongs to Service front/web"), "{said}");
}

#[test]
fn an_object_of_somebody_else_with_our_name_is_an_error_in_a_folder_too() {
    let mine = "apiVersion: v1\nkind: Service\nmetadata: {name: valkey-cache-shard-0, namespace: shop, labels: {team: x}}\nspec: {selector: {app: mine}}\n";
    let folder = folder("foreign", &[("c.yaml", CLUSTER), ("mine.yaml", mine)]);
    for command in [&["check", "-f", "."][..], &["render", "-f", ".", "-o", "out.yaml"]] {
        let (code, out, said) = run(&folder, command);
        let said = out + &said;
        assert!(
            code == 1
                && said.starts_with("[error] v1/Service/shop/valkey-cache-shard-0 metadata.name: this object has a name that is ours"),
            "{said}"
        );
        assert!(said.contains("mine.yaml:3"), "{said}");
    }
    assert!(!folder.join("out.yaml").exists());
}
