//! What the controller may do in Kubernetes: the one table that `deploy/` is compared with.
