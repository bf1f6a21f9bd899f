//! Of two replicas one works: the holder of a Lease.
