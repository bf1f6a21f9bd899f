//! Read-back: ports that Kubernetes allocated, into the API of an operator that has external access of its own.
