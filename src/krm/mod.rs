//! The wire format: ResourceLists and manifests as text whose bytes are kept, and YAML as Kubernetes reads it.

pub mod annotations;
pub mod change;
pub mod edit;
pub mod entries;
mod form;
mod item;
pub mod keys;
pub mod lines;
pub mod list;
pub mod manifests;
pub mod scalar;
mod sequence;
mod split;
mod value;
pub mod write;
pub mod yaml;

pub use change::Change;
pub use edit::{Edits, Pieces};
pub use item::Item;
pub use list::{Read, ResourceList, Tree};
