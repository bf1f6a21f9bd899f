//! `/healthz`, `/readyz` and `/metrics`.
