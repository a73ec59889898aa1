//! `cargo xtask image`: a container image as an OCI layout, without a container engine.
//!
//! The program is linked with the C library of the machine it is built on, so the one layer holds it,
//! the shared libraries it names, the certificates of public authorities, and nothing else: no
//! shell, no package manager. Times, owners and the order of files are fixed, so that the same
//! program gives the same digest.

mod blob;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::bench::executable;
use crate::command::{output, require, root, run};
use blob::Blobs;

/// Where it is written unless told otherwise.
const FOLDER: &str = "target/image";
/// Where programs find public authorities.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// A user that owns nothing.
const USER: &str = "65532:65532";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Writes the image, and beside it what it is made of: `cargo xtask image [PROGRAM [FOLDER]]`.
pub(crate) fn run_task(args: &[String]) -> Result<()> {
    for program in ["tar", "gzip", "sha256sum", "ldd"] {
        require(program, "An image is packed with the tools of the machine.")?;
    }
    let program = match args.first() {
        Some(program) => PathBuf::from(program),
        None => executable::kerf()?,
    };
    let folder = args.get(1).map_or(root()?.join(FOLDER), PathBuf::from);
    let digest = write(&program, &folder)?;
    fs::write(folder.join("sbom.spdx.json"), sbom::of_workspace()?)?;
    println!("{}: {digest}", folder.display());
    println!("skopeo copy oci:{}:{} docker://REGISTRY/kerf:{}", folder.display(), VERSION, VERSION);
    Ok(())
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes an image of a program; its digest.
fn write(program: &Path, folder: &Path) -> Result<String> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let tree = folder.join("tree");
    fill(&tree, program)?;
    let blobs = Blobs::create(folder)?;
    let (tar, layer) = (folder.join("layer.tar"), folder.join("layer.tar.gz"));
    run(Command::new("tar")
        .args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=ustar", "--mode=u=rwX,go=rX", "--create", "--file"])
        .arg(&tar)
        .arg("--directory")
        .arg(&tree)
        .arg("."))?;
    let diff_id = blob::digest(&tar)?;
    run(Command::new("gzip").args(["--no-name", "--best", "--force"]).arg(&tar))?;
    let layer = blobs.take(&layer, LAYER)?;
    let config = blobs.text(&config(&diff_id)?.to_string(), CONFIG)?;
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
    });
    let mut manifest = blobs.text(&manifest.to_string(), MANIFEST)?;
    let digest = manifest["digest"].as_str().unwrap_or_default().to_owned();
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": VERSION});
    manifest["platform"] = json!({"architecture": architecture()?, "os": "linux"});
    let index = json!({"schemaVersion": 2, "manifests": [manifest]});
    fs::write(folder.join("index.json"), index.to_string())?;
    fs::write(folder.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string())?;
    fs::remove_dir_all(&tree)?;
    Ok(digest)
}

/// Puts a program, its libraries and certificates where they are looked for.
fn fill(tree: &Path, program: &Path) -> Result<()> {
    let place = |from: &Path, to: &Path| -> Result<()> {
        let to = tree.join(to.strip_prefix("/").unwrap_or(to));
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        fs::copy(from, &to).with_context(|| from.display().to_string())?;
        Ok(())
    };
    place(program, Path::new("usr/local/bin/kerf"))?;
    for library in libraries(&output(Command::new("ldd").arg(program))?) {
        place(Path::new(&library), Path::new(&library))?;
    }
    if !Path::new(CERTIFICATES).is_file() {
        bail!("{CERTIFICATES} is not there: install ca-certificates");
    }
    place(Path::new(CERTIFICATES), Path::new(CERTIFICATES))
}

/// The files that `ldd` names, the loader among them.
fn libraries(ldd: &str) -> Vec<String> {
    let path = |line: &str| {
        let named = line.split("=>").last()?.split_whitespace().next()?;
        named.starts_with('/').then(|| named.to_owned())
    };
    ldd.lines().filter_map(path).collect()
}

fn config(diff_id: &str) -> Result<Value> {
    Ok(json!({
        "architecture": architecture()?,
        "os": "linux",
        "config": {
            "User": USER,
            "Env": ["PATH=/usr/local/bin"],
            "Entrypoint": ["/usr/local/bin/kerf"],
            "Cmd": ["controller"],
            "Labels": {
                "org.opencontainers.image.title": "kerf",
                "org.opencontainers.image.version": VERSION,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
    }))
}

/// The machine's, in the words of images.
fn architecture() -> Result<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        other => bail!("no image is known for {other}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use serde_json::Value;

    use super::{blob, libraries, write};

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("kerf-image-{}-{name}", std::process::id()))
    }

    fn read(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// The file that a descriptor speaks of, whose digest and size must be its own.
    fn described(layout: &Path, descriptor: &Value) -> PathBuf {
        let digest = descriptor["digest"].as_str().unwrap();
        let path = layout.join("blobs").join(digest.replace(':', "/"));
        assert_eq!(blob::digest(&path).unwrap(), digest);
        assert_eq!(fs::metadata(&path).unwrap().len(), descriptor["size"].as_u64().unwrap());
        path
    }

    #[test]
    fn a_program_of_the_image_runs_with_nothing_but_its_layer_and_twice_made_it_is_the_same() {
        let program = Path::new("/bin/true");
        let (first, second) = (folder("first"), folder("second"));
        let digest = write(program, &first).unwrap();
        assert_eq!(write(program, &second).unwrap(), digest);

        let index = read(&first.join("index.json"));
        let manifest = read(&described(&first, &index["manifests"][0]));
        let config = read(&described(&first, &manifest["config"]));
        assert_eq!(config["config"]["User"], "65532:65532");
        let layer = described(&first, &manifest["layers"][0]);
        let tree = folder("tree");
        fs::create_dir_all(&tree).unwrap();
        let unpacked = Command::new("tar").arg("-xzf").arg(layer).arg("-C").arg(&tree).status();
        assert!(unpacked.unwrap().success());
        let listed = Command::new("ldd").arg(program).output().unwrap();
        let libraries = libraries(&String::from_utf8(listed.stdout).unwrap());
        let inside = |path: &str| tree.join(path.trim_start_matches('/'));
        let loader = libraries.iter().find(|path| path.contains("/ld-")).unwrap();
        let folders: Vec<String> = libraries
            .iter()
            .map(|path| inside(path).parent().unwrap().display().to_string())
            .collect();
        let ran = Command::new(inside(loader))
            .args(["--inhibit-cache", "--library-path", &folders.join(":")])
            .arg(inside("usr/local/bin/kerf"))
            .status();
        assert!(ran.unwrap().success());
        for folder in [first, second, tree] {
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn libraries_and_the_loader_are_read_and_what_has_no_file_is_not() {
        let said = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x2)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x3)\n";
        assert_eq!(libraries(said), ["/lib/x/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]);
    }
}
