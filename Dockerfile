# The images: one static binary each, and no shell. `make image` and
# `make controller-image` put the binaries into dist/ and build these.
#
# The last one is built by default.
FROM scratch AS controller
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="expose-valkey-controller" \
      org.opencontainers.image.description="Tells clients of Valkey clusters in Kubernetes the ports and addresses that only the running cluster knows" \
      org.opencontainers.image.source="https://github.com/expose-valkey/expose-valkey" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY image/passwd image/group /etc/
COPY dist/expose-valkey-controller /usr/bin/expose-valkey-controller
USER 65534:65534
ENTRYPOINT ["/usr/bin/expose-valkey-controller"]

FROM scratch AS function
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="expose-valkey" \
      org.opencontainers.image.description="Makes every node of a Valkey cluster in Kubernetes reachable from outside: a KRM function for Kustomize and kpt" \
      org.opencontainers.image.source="https://github.com/expose-valkey/expose-valkey" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Kustomize and kpt run functions as the user `nobody`, by name.
COPY image/passwd image/group /etc/
COPY dist/expose-valkey /usr/bin/expose-valkey
USER 65534:65534
ENTRYPOINT ["/usr/bin/expose-valkey"]
